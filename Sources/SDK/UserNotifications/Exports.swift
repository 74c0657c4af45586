@_exported import Foundation
@_exported import UserNotifications
@_exported import WakeClient
@_exported import WakeFoundation
