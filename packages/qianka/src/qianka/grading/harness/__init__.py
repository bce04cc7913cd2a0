"""Scripts that run inside a sandbox with the interpreter of the student runtime.

They are started by file path, import nothing of qianka, and end by writing one JSON file of figures. No file
means that they did not finish, which is the platform's fault and never a grade.
"""
