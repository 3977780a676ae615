"""What one answer may refer to, show and lead to: its passages, as far as they are found."""

from app.grounding.citations import CitationBook
from app.grounding.image_urls import ImageUrls
from app.grounding.links import Links


class Sources:
    """A view of a book that grows while the answer is worded."""

    def __init__(self, book: CitationBook) -> None:
        """Say where the passages are entered."""
        self._book = book
        self._seen = -1
        self.refresh()

    def refresh(self) -> None:
        """Take in what was entered since."""
        citations = self._book.citations
        if len(citations) != self._seen:
            self._seen = len(citations)
            self.numbers = self._book.numbers()
            self.images = ImageUrls(self._book.image_urls())
            self.links = Links(citations)

    def allows(self, target: str) -> bool:
        """Whether a link may lead there, as it is written."""
        return self.links.allows(target) or self.images.resolve(target, is_image=False) is not None
