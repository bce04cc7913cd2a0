"""Backups: one folder with a snapshot of the database and every file that it names.

BACKUP/  manifest.json    format, version, revision, instant, counts, hashes of the two files below; written last
         files.jsonl      one line a file of the data directory: path, mode, size, sha256, mtime
         database.sqlite  the database at one instant, whatever it is kept in
         objects/ab/…     the content of the files by its sha256, each once

Order: files are in their places before the transaction that names them, and keep their content. So the
snapshot is taken first and the files after: what it names is there. What could go meanwhile is what the
reaper clears away; it rests while a backup holds its lease.
"""

from qianka.services.backups.create import Made as Made
from qianka.services.backups.create import create as create
from qianka.services.backups.restore import Restored as Restored
from qianka.services.backups.restore import restore as restore
from qianka.services.backups.verify import Verdict as Verdict
from qianka.services.backups.verify import verify as verify
