// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Foundation
import LinkDelivery
import LinuxSupport
import NFCReaders
import NFCSessions
import TagLink
import TagTrace
import TextSafety
import UserBus

/// The service. It connects its parts, and passes each action of the state machine to the part that performs it.
/// Everything runs on the main queue.
final class Service {
    struct Failure: Error {
        var name: String
        var reason: String
        var status: CInt = 1
    }

    private static let name = "org.opencorenfc.Background"

    let options: Options
    private let log: Log
    private let bus: BusConnection
    let loop: StateMachineDriver
    let inbox: InboxKeeper
    private let links: LinkOpening
    let reading: ReadingControl
    private let announcer: Announcer
    private var answers: BusAnswers?
    private var source: (any DispatchSourceRead)?
    private var signals: [any DispatchSourceSignal] = []

    init(_ options: Options, _ log: Log) throws {
        self.options = options
        self.log = log
        let variables = ProcessInfo.processInfo.environment
        let folders = UserFolders(environment: variables)
        let environment = try Self.environment(options.reader, log)
        bus = try Self.connect()
        loop = StateMachineDriver { [clock = environment.clock] in clock.now }
        let store = try PrivateFolder(store: folders.state + "/nfc/background")
        inbox = try InboxKeeper(folders, marks: store, log, loop)
        links = LinkOpening(variables, allowsCustomSchemes: options.allowsCustomSchemes, log, loop, inbox)
        reading = ReadingControl(environment, log, loop, links, inbox, UnlockHistory(store, boot: SystemFiles.boot))
        announcer = try Announcer(bus, try? PrivateFolder(store: ReaderGate.ofUser.folder), log, loop)
    }

    /// Creates the reader's environment.
    ///
    /// - Throws: ``Failure`` if there is no reader and none can appear later.
    private static func environment(_ reader: ReaderConfiguration, _ log: Log) throws(Failure) -> NFCEnvironment {
        let environment = NFCEnvironment.background(reader) { text in
            DispatchQueue.main.async { MainActor.assumeIsolated { log.write("notice", text) } }
        }
        guard case .none(let reason) = environment.reader, reader.reader != "none" else { return environment }
        let code = environment.tagFileError?.code.description ?? environment.recordingError?.code.description
        throw Failure(name: code ?? "no-reader", reason: reason, status: code == nil ? 3 : 1)
    }

    /// Claims the service's bus name. This ensures that only one process uses the inbox and the gate.
    private static func connect() throws(Failure) -> BusConnection {
        do throws(BusError) {
            let bus = try BusConnection(.user)
            try bus.take(Self.name)
            return bus
        } catch  where error.code == .nameTaken {
            throw Failure(name: "already-running", reason: "nfcd is already running.")
        } catch {
            throw Failure(name: "no-bus", reason: error.reason)
        }
    }

    func start() throws {
        log.write("started", "The service is running.")
        loop.perform = { [weak self] action in self?.perform(action) }
        announcer.onActivation = { [weak self] id in self?.activate(id) }
        answers = BusAnswers(
            status: { [weak self] in self?.statusText ?? "" },
            open: { [weak self] name in self?.open(name) ?? "unknown" }
        )
        source = DispatchSource.reading(bus.descriptor) { [weak self] in self?.receive() }
        for number in [SIGTERM, SIGINT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.end() } }
            source.activate()
            signals.append(source)
        }
        try reading.prepare()
        links.inOrder { [weak self] in self?.begin() }
        receive()
    }

    /// Starts reading tags, once the stored association files have been compiled.
    private func begin() {
        do {
            let earlier = try inbox.recover(shown: announcer.shownEntries, summarized: announcer.summarizedEntries)
            loop.begin([links.router(), .restored(earlier)].compactMap(\.self))
        } catch {
            fail("inbox", "\(error)")
        }
        reading.begin(bus)
        links.startRefreshing()
        do throws(BusError) {
            try answers?.begin()
        } catch {
            fail("no-bus", error.reason)
        }
        receive()
    }

    private func fail(_ name: String, _ reason: String) -> Never {
        log.fail(name, reason)
        exit(1)
    }

    private func end() {
        log.write("ended", "The service is stopping.")
        Task {
            await reading.end()
            // Other threads are still running. exit() would destroy objects they use, for example in libcurl and
            // OpenSSL. Nothing is left to write.
            _exit(0)
        }
    }

    private func receive() {
        let wasSilent = bus.isSilent
        do throws(BusError) {
            while let message = try bus.receive() {
                if message.isCall {
                    try answers?.answer(message)
                } else {
                    announcer.take(message)
                    reading.take(message)
                }
            }
        } catch {
            fail("no-bus", error.reason)
        }
        // Retries notifications that failed while the bus did not respond.
        if wasSilent, !bus.isSilent { loop.handle(.desktopReady) }
    }

    /// Opens an entry, like a click on its notification. Returns one word for programs that describes the result.
    private func open(_ name: String) -> String {
        guard let id = InboxEntry.ID(name), loop.machine.keptEntries.contains(id) else { return "unknown" }
        activate(id)
        return loop.machine.isLocked ? "locked" : "opening"
    }

    private func activate(_ id: InboxEntry.ID) {
        links.inOrder { [weak self] in
            guard let self else { return }
            reading.refreshLock()
            links.reloadRouter()
            loop.handle(.activated(id))
        }
    }

    // MARK: The actions of the machine

    private func perform(_ action: BackgroundReader.Action) {
        switch action {
        case .startLooking: reading.startLooking()
        case .stopLooking: reading.stopLooking()
        case .store(let entry): inbox.store(entry)
        case .announce(let id, let content):
            reading.logDuration(of: id, content)
            announcer.announce(id, content)
        case .summarize(let ids, let content): announcer.summarize(ids, content)
        case .markAnnounced(let id): inbox.markAnnounced(id)
        case .withdraw(let subject): announcer.withdraw(subject)
        case .mark(let id, let mark): inbox.keep(mark, of: id)
        case .requestUnlock: requestUnlock()
        case .deliver(let id, let delivery): links.deliver(id, delivery, token: announcer.takeToken(of: id))
        case .remove(let id):
            _ = announcer.takeToken(of: id)
            inbox.remove(id)
        case .note(let note): log.write(note.line.event, note.line.text)
        }
    }

    private func requestUnlock() {
        let asked = reading.promptToUnlock()
        log.write(
            "waits",
            "The link will be opened when the screen is unlocked."
                + (asked.isEmpty ? " The desktop offers no way to unlock it." : ""),
            ["asked": asked.joined(separator: " ")]
        )
        // Messages received while waiting for answers are queued, and would not trigger another event.
        DispatchQueue.main.async { [weak self] in MainActor.assumeIsolated { self?.receive() } }
    }
}

extension Service {
    /// The service's status as JSON, for `nfc background status`.
    var statusText: String {
        let systemConditions = reading.systemConditions
        let all = systemConditions.findings
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("reading", systemConditions.conditions.allowReading)
        writer.member("locked", systemConditions.isLocked)
        writer.member("silent_login", systemConditions.isLoginSilent)
        writer.key("silent_savers")
        writer.values(Array(systemConditions.silentSavers))
        writer.member("waiting", reading.hasBegun ? loop.machine.keptEntries.count : inbox.identifiers.count)
        writer.member("reader", all.first?.source ?? "")
        writer.member("inbox_problem", inbox.keepingProblem)
        writer.member("allows_custom_schemes", options.allowsCustomSchemes)
        writer.key("conditions")
        writer.beginArray()
        for finding in all {
            writer.beginObject()
            writer.member("condition", finding.name)
            writer.member("met", finding.isMet)
            writer.member("source", finding.source)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.text, as: UTF8.self)
    }
}

extension BackgroundReader.Note {
    /// One word for programs, and a sentence for people.
    var line: (event: String, text: String) {
        switch self {
        case .notEligible(let obstacles):
            ("not-eligible", "A tag was read and ignored. \(obstacles.map(\.reason).joined(separator: " "))")
        case .noMessage: ("no-message", "A tag has no message.")
        case .badMessage: ("bad-message", "A tag's message is damaged, or too large.")
        case .noLink: ("no-link", "A tag's message has no link.")
        case .unusableLink: ("unusable-link", "A tag's link can't be read.")
        case .refused(let refusal): ("refused", "A tag's link is not offered. \(refusal.reason)")
        case .tooManyArrivals: ("too-many", "Too many tags arrive. The next ones are ignored for a moment.")
        case .turnedAway(let count):
            ("turned-away", "\(count) \(count == 1 ? "arrival was" : "arrivals were") refused.")
        case .notKept:
            ("not-kept", "The inbox can't save an entry. It is still offered, and will be saved when possible.")
        case .kept: ("kept", "The inbox has now saved the entry that could not be saved before.")
        case .nothingToOpen: ("nothing-to-open", "An entry has nothing that can be opened now.")
        case .notDelivered: ("stays", "The entry stays in the inbox.")
        case .forgotten: ("forgotten", "The inbox is full; the oldest entry was removed.")
        }
    }
}
