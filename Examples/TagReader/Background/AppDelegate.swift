// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import UserActivityReceiving

/// Takes the links of cards that were read while the app was not in front, as the app's delegate does on a phone.
@MainActor
final class AppDelegate: ApplicationDelegate {
    /// The name of the app's desktop entry.
    static let desktopID = "org.opencorenfc.TagReader"

    private let reader: MessageReader
    /// Shows the message of an index in the list.
    private let show: (Int) -> Void

    init(reader: MessageReader, show: @escaping (Int) -> Void) {
        self.reader = reader
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
        guard let index = reader.receive(message) else { return false }
        show(index)
        return true
    }

    /// Takes links from now on. Where there is no bus, or the app runs already, it takes none.
    ///
    /// - Parameter onEnd: called when no link can come any more.
    /// - Returns: why not, as a sentence.
    func listen(onEnd: @escaping @Sendable () -> Void = {}) -> String? {
        Application.shared.delegate = self
        do {
            try Application.shared.listen(as: Self.desktopID, onEnd: onEnd)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
