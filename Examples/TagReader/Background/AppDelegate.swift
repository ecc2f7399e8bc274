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
    /// Shows a message, or why it could not be saved.
    private let show: (MessageReader.Receipt) -> Void

    /// - Parameters:
    ///   - reader: keeps the messages.
    ///   - isVisible: whether a person sees what is shown; what nobody saw counts as new.
    ///   - show: shows a message that came, and why it could not be saved.
    init(reader: MessageReader, isVisible: Bool = true, show: @escaping (MessageReader.Receipt) -> Void) {
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
        guard let receipt = reader.receive(message, isNew: !isVisible) else { return false }
        show(receipt)
        // What is not saved stays in the inbox too.
        return receipt.failure == nil
    }
}
