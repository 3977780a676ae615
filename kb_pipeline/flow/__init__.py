"""The flow of an article from the staging folder to its readers: build its layers, publish, watch for changes."""
