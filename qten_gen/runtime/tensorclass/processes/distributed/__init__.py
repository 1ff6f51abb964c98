"""TensorClasses between the processes of `torch.distributed`, tensor by tensor."""
