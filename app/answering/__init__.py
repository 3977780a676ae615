"""Words an answer from passages: by the passages' own sentences, or by a model. One file each way."""
