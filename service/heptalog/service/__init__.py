"""The service: what may be appended, one writer, stores behind one interface, gRPC around it, and its clients."""
