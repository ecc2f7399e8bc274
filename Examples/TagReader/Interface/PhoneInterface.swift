// SPDX-License-Identifier: Apache-2.0
import Foundation
import PhoneScreens

/// The app on the phone of a simulator: a list of messages, the details of one, and alerts.
///
/// The scanning sheet is the framework's, as on every reader.
@MainActor
final class PhoneInterface {
    private let reader: MessageReader
    private let phone: SimulatedPhone
    private var links: LinkReceiver?
    /// The number of the message whose records are shown; nil for the list.
    private var shown: Int?
    /// An alert or a question over the screen.
    private var alert: PhoneScreen.Item?
    private var note = ""
    /// Whether a session runs.
    private var isBusy = false

    init(reader: MessageReader, phone: SimulatedPhone) {
        self.reader = reader
        self.phone = phone
    }

    /// Runs until the process is ended.
    ///
    /// - Returns: the exit status.
    func run() async -> Int32 {
        StandardOutput.writeLines("The app is on the phone of the simulator. To end it, press Ctrl-C.")
        if let problem = reader.load() { alert = MessageScreens.alert("Saved Messages", problem) }
        if reader.store.messages.contains(where: \.isNew) { note = Wording.arrivedBefore }
        let links = LinkReceiver(AppDelegate(reader: reader) { [self] in show($0) })
        links.begin()
        self.links = links
        draw()
        for await id in phone.presses {
            _ = reader.reload()
            if let press = MessageScreens.Press(id) { handle(press) }
            draw()
        }
        return withExtendedLifetime(links) { 0 }
    }

    private func handle(_ press: MessageScreens.Press) {
        if press != .scan { note = "" }
        switch press {
        case .scan: during { await $0.scan(readsMany: false) }
        case .scanMany: during { await $0.scan(readsMany: true) }
        case .write: during { await $0.write() }
        case .back: shown = nil
        case .message(let number): shown = number
        case .ask: alert = shown.map(MessageScreens.question)
        case .close: alert = nil
        case .delete: delete()
        }
    }

    /// Runs one session at a time. Presses are handled meanwhile.
    private func during(_ work: @escaping @MainActor (PhoneInterface) async -> Void) {
        guard !isBusy else { return }
        isBusy = true
        alert = nil
        Task {
            await work(self)
            isBusy = false
            draw()
        }
    }

    private func scan(readsMany: Bool) async {
        let result = await reader.scan(readsMany: readsMany)
        if let last = result.added.last {
            note = result.added.count == 1 ? "1 message was added." : "\(result.added.count) messages were added."
            if !readsMany { shown = last }
        }
        if let failure = result.failure { alert = MessageScreens.alert(Wording.notSavedTitle, failure) }
        if let text = result.alert { alert = MessageScreens.alert(endTitle, text) }
    }

    private func write() async {
        guard let message = shown.flatMap(reader.store.message) else { return }
        switch await reader.write(message) {
        case .written: note = Wording.written
        case .failed(let text): note = text
        case .ended(_, let text): if let text { alert = MessageScreens.alert(endTitle, text) }
        }
    }

    private func delete() {
        alert = nil
        guard let number = shown else { return }
        do {
            try reader.remove(number)
            shown = nil
            note = "Message \(number) is deleted."
        } catch {
            alert = MessageScreens.alert("Not Deleted", error.text)
        }
    }

    /// Shows a message that came from a card in the background.
    private func show(_ receipt: MessageReader.Receipt) {
        shown = receipt.number
        note = Wording.arrived
        alert = receipt.failure.map { MessageScreens.alert(Wording.notSavedTitle, $0) }
        draw()
    }

    private var endTitle: String { reader.canScan ? Wording.endedTitle : Wording.unavailableTitle }

    private func draw() {
        if let number = shown { reader.markSeen(number) }
        var screen =
            shown.flatMap(reader.store.message).map { MessageScreens.details(of: $0, note: note) }
            ?? MessageScreens.list(reader.store.messages, note: note)
        if let alert { screen.items.append(alert) }
        phone.show(screen)
    }
}
