"""What broke in a network, and why: from an alert or a storm of them to a situation report, by rules."""
