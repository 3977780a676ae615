"""What the service writes down of itself: log lines without secrets, telemetry, and the audit log."""
