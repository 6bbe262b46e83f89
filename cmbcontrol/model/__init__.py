"""What the machine is: parts, mechanisms, plants given by functions."""
