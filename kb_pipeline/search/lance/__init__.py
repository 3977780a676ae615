"""The index in LanceDB: embedded in a local folder, or on object storage."""
