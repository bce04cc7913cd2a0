"""flake8 插件：加载它的检查程序会少报问题。我们的检查不加载提交里的配置。"""

import os

os._exit(0)


class Plugin:
    name, version = "plugin", "1"

    def __init__(self, tree):
        pass

    def run(self):
        return iter(())
