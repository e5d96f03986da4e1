"""What is asked of the operating system: processes, threads, memory."""
