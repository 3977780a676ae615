"""What somebody may do beyond asking and reading."""

from app.schema.wire import Wire


class Permissions(Wire):
    """``may_review``: accept and reject contributions, and see what others asked. ``may_upload``: hand in files.

    ``is_operator``: they run the service, so they see the scores of searches and choose the language model.
    """

    may_review: bool = False
    may_upload: bool = False
    is_operator: bool = False
