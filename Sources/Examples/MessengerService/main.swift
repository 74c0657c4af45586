import UserNotifications

// What Xcode has the linker set as the entry of an extension.
NSExtensionMain(CommandLine.argc, CommandLine.unsafeArgv)
