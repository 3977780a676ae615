"""Azure AI Content Understanding as an analyzer."""
