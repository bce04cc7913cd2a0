"""The folders of a published version; see `qianka.services.versions`, where dates and grades read them too."""

from qianka.services.versions import VersionFolder as VersionFolder
from qianka.services.versions import loaded as loaded
from qianka.services.versions import version_folder as version_folder
