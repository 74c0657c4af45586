import UserNotifications

/// An ordinary notification service extension: it reads a message before its user does.
class NotificationService: UNNotificationServiceExtension {
    private var contentHandler: ((UNNotificationContent) -> Void)?
    private var bestAttemptContent: UNMutableNotificationContent?

    override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        log("didReceive \(request.content.body) pid=\(ProcessInfo.processInfo.processIdentifier)")
        self.contentHandler = contentHandler
        bestAttemptContent = request.content.mutableCopy() as? UNMutableNotificationContent
        guard let content = bestAttemptContent else { return contentHandler(request.content) }
        // A message that never comes to its end.
        if content.body == "…" { return }
        content.body = "\(content.title): \(content.body)"
        contentHandler(content)
    }

    override func serviceExtensionTimeWillExpire() {
        log("serviceExtensionTimeWillExpire")
        guard let contentHandler, let content = bestAttemptContent else { return }
        content.body = "A message"
        contentHandler(content)
    }
}

/// Prints a line at once, so that nothing is lost when the process ends.
func log(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
