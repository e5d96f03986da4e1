"""The operating system: processes, threads, memory."""
