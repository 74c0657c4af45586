@_exported import WakeFoundation
@_exported import os
