def generated_authenticate():
    return "never indexed: the folder is ignored"
