// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import UserActivityReceiving

/// Receives the links of cards that were read in the background, as the app's delegate does on a phone.
@MainActor
final class AppDelegate: ApplicationDelegate {
    /// The name of the app's desktop entry.
    nonisolated static let desktopID = "org.opencorenfc.TagReader"

    private let reader: MessageReader
    private let isVisible: Bool
    /// Shows a message, or the reason why it could not be saved.
    private let show: (MessageReader.Receipt) -> Void

    /// - Parameters:
    ///   - reader: saves the messages.
    ///   - isVisible: whether a person sees this instance; if not, its messages are marked as new.
    ///   - show: shows a received message, or the reason why it could not be saved.
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
        // An activity that does not come from a card has a message with one empty record.
        let message = userActivity.ndefMessagePayload
        guard let first = message.records.first, first.typeNameFormat != .empty else { return false }
        guard let receipt = reader.receive(message, isNew: !isVisible) else { return false }
        show(receipt)
        // A message that is not saved also stays in the inbox.
        return receipt.failure == nil
    }
}
