"""The source ``sharepoint``: the document libraries and pages of a SharePoint site, by Microsoft Graph."""
