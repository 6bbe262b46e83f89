"""Models of machines: parts, mechanisms, plants given by functions."""
