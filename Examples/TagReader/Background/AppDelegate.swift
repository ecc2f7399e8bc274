// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import UserActivityReceiving

/// Takes the links of cards that were read while the app was not in front, as the app's delegate does on a phone.
@MainActor
final class AppDelegate: ApplicationDelegate {
    /// The name of the app's desktop entry.
    nonisolated static let desktopID = "org.opencorenfc.TagReader"

    private let reader: MessageReader
    private let isVisible: Bool
    /// Shows the message of a number.
    private let show: (Int) -> Void

    /// - Parameters:
    ///   - reader: keeps the messages.
    ///   - isVisible: whether a person sees what is shown; what nobody saw counts as new.
    ///   - show: shows the message of a number.
    init(reader: MessageReader, isVisible: Bool = true, show: @escaping (Int) -> Void) {
        self.reader = reader
        self.isVisible = isVisible
        self.show = show
    }

    func application(
        _ application: Application,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UserActivityRestoring]?) -> Void
    ) -> Bool {
        guard userActivity.activityType == NSUserActivityTypeBrowsingWeb else { return false }
        // An activity that comes of no card has a message of one empty record.
        let message = userActivity.ndefMessagePayload
        guard let first = message.records.first, first.typeNameFormat != .empty else { return false }
        guard let number = reader.receive(message, isNew: !isVisible) else { return false }
        show(number)
        return true
    }
}
