@_exported import BackgroundTasks
@_exported import Foundation
@_exported import WakeClient
@_exported import WakeFoundation
