// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Dispatch
import Foundation
import UserActivityReceiving

// Usage: DeliveryProbe NAME FILE
// An app of the name NAME that appends a line to FILE for each link that it is given.

@MainActor
final class AppDelegate: ApplicationDelegate {
    let file: String

    init(file: String) { self.file = file }

    func application(
        _ application: Application,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UserActivityRestoring]?) -> Void
    ) -> Bool {
        let message = userActivity.ndefMessagePayload
        let link = userActivity.webpageURL?.absoluteString ?? "none"
        write("\(ProcessInfo.processInfo.processIdentifier) \(link) \(message.records.count)")
        return !link.hasSuffix("/refuse")
    }

    func write(_ line: String) {
        let old = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        try? (old + line + "\n").write(toFile: file, atomically: true, encoding: .utf8)
    }
}

guard CommandLine.arguments.count == 3 else { exit(2) }
let delegate = AppDelegate(file: CommandLine.arguments[2])
Application.shared.delegate = delegate
try Application.shared.listen(as: CommandLine.arguments[1]) { exit(0) }
delegate.write("\(ProcessInfo.processInfo.processIdentifier) ready 0")
dispatchMain()
