"""Where a hand-in's files came from: recorded when jobs end, matched when somebody looks."""

from qianka.services.provenance.record import Recorder as Recorder
from qianka.services.provenance.view import Flag as Flag
from qianka.services.provenance.view import Origin as Origin
from qianka.services.provenance.view import Provenance as Provenance
from qianka.services.provenance.view import Source as Source
from qianka.services.provenance.view import of_submission as of_submission
