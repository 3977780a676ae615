"""Single mails, of any program and of Outlook."""
