"""Traces, metrics and logs for OpenTelemetry, sent only where the environment names a destination.

What is measured stands with the code that does it; here is only how it leaves a process. Without a destination nothing
of OpenTelemetry's SDK is imported.
"""

AUDIT = "kb_pipeline.audit"
"""The logger of the audit log's lines. They are sent, but not printed, because they would drown everything else."""
