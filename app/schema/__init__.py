"""The messages between the service and its clients, apart from the Responses protocol. Both sides use these classes."""
