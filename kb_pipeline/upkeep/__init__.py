"""Maintenance of what was published: status, verification, repair, removal, rollback, tracing and estimates."""
