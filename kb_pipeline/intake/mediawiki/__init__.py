"""MediaWiki as a source: the pages of a wiki, as it renders them."""
