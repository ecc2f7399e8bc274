// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import UserActivityReceiving

/// Receives the links of cards that were read in the background, as the app's delegate does on a phone.
///
/// Only one instance of the app at a time receives them. A visible instance replaces one in the background.
@MainActor
final class LinkReceiver: ApplicationDelegate {
    /// The name of the app's desktop entry.
    nonisolated static let desktopID = "org.opencorenfc.TagReader"

    /// The instance that receives the links.
    enum State: Equatable {
        case here
        /// Another instance; this one takes over when the other ends.
        case elsewhere
        /// No instance, for a reason.
        case nobody(reason: String)
    }

    private let reader: MessageReader
    private let isVisible: Bool
    private let show: (Int) -> Void
    private(set) var state = State.nobody(reason: "The app has just started.")
    private var lastLook = ContinuousClock.now

    /// `show` shows the message with a number. If no person sees this instance, messages are marked as new.
    init(_ reader: MessageReader, isVisible: Bool = true, show: @escaping (Int) -> Void) {
        self.reader = reader
        self.isVisible = isVisible
        self.show = show
    }

    /// Starts to receive links, unless another visible instance does. `onEnd` is called on another thread when no more
    /// links can come.
    func begin(onEnd: @escaping @Sendable () -> Void = {}) {
        Application.shared.delegate = self
        do {
            try Application.shared.listen(
                as: Self.desktopID,
                presence: isVisible ? .visible : .background,
                onEnd: onEnd
            )
            state = .here
        } catch {
            state = Application.isRunning(as: Self.desktopID) ? .elsewhere : .nobody(reason: "\(error)")
        }
    }

    /// Takes over when the other instance has ended, which it looks for every two seconds. Returns whether this
    /// instance receives the links from now on.
    func takeOver() async -> Bool {
        guard state == .elsewhere, lastLook.duration(to: .now) > .seconds(2) else { return false }
        lastLook = .now
        // The bus may be slow, so it is not asked on the main thread.
        let isTaken = await Task.detached { Application.isRunning(as: Self.desktopID) }.value
        guard !isTaken, state == .elsewhere else { return false }
        begin()
        return state == .here
    }

    // MARK: ApplicationDelegate

    func application(
        _ application: Application,
        continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UserActivityRestoring]?) -> Void
    ) -> Bool {
        guard userActivity.activityType == NSUserActivityTypeBrowsingWeb else { return false }
        // An activity that does not come from a card has a message with one empty record.
        let message = userActivity.ndefMessagePayload
        guard let first = message.records.first, first.typeNameFormat != .empty else { return false }
        do {
            for number in try reader.store.append([message], isNew: !isVisible) { show(number) }
            return true
        } catch {
            // It stays in the inbox.
            complain(error.text)
            return false
        }
    }
}
