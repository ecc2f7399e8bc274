// SPDX-License-Identifier: Apache-2.0
import BackgroundTagReading
import Dispatch
import Foundation
import LinkDelivery
import NFCReaders
import NFCRuntime
import PrivateStorage
import TagLink
import TagTrace
import UserBus

/// The service: feeds events to the state machine, and performs the actions it returns. Everything runs on the main
/// queue.
final class Service {
    /// Why the service can't start, as a sentence for people.
    struct Failure: Error {
        /// The error's name, for programs.
        var name: String
        var reason: String
        /// The documented exit status.
        var status: CInt

        init(_ name: String, _ reason: String, status: CInt = 1) {
            self.name = name
            self.reason = reason
            self.status = status
        }
    }

    static let name = "org.opencorenfc.Background"

    let options: Options
    let log: Log
    let bus: BusConnection
    var inbox: Inbox<DirectoryStore>
    let opener: Opener
    let unlocks: UnlockMemory
    let environment: NFCEnvironment
    var marks: EntryMarks<DirectoryStore>
    var machine = BackgroundReader()
    var surroundings = Surroundings()
    var told = ToldState()
    var notifier: Notifier?
    var summary: PendingSummary?
    var retries = ShowingRetries()
    /// The notifications that could not be shown and that the log has reported.
    var unshown: Set<NotificationSubject> = []
    var tokens: [InboxEntry.ID: String] = [:]
    var watcher: TagWatcher?
    var gate: ReaderGateServer?
    var session: SessionWatch?
    var devices: DeviceWatch?
    var desktop: DesktopWatch?
    var inboxFiles: FileWatch?
    private var links: LinkRefresh?
    private var source: (any DispatchSourceRead)?
    private var signals: [any DispatchSourceSignal] = []
    private var inputs: [BackgroundReader.Input] = []
    private var isHandling = false
    /// Why the disk did not accept the last entry, as a sentence; nil when it did.
    var inboxProblem: String?
    /// Whether the inbox folder has disappeared or was replaced, and none could be opened since.
    var isInboxLost = false
    var isToStoreAgain = false
    var isToCheckInbox = false
    private let linkQueue = DispatchQueue(label: "org.opencorenfc.links")
    var isBegun = false
    /// Whether the machine has the state of an earlier run. Until then, events wait.
    private var isRestored = false
    /// Calls that are answered after that.
    var earlyCalls: [EarlyCall] = []
    /// The current reading, from which the time between a tag's arrival and its notification is measured.
    var reading: TagWatcher.Reading?

    init(_ options: Options, _ log: Log) throws {
        self.options = options
        self.log = log
        let variables = ProcessInfo.processInfo.environment
        let folders = UserFolders(environment: variables)
        environment = try Self.environment(options.reader, log)
        bus = try Self.connect()
        inbox = try Inbox(of: folders)
        opener = Opener(variables, allowsCustomSchemes: options.allowsCustomSchemes)
        let store = try DirectoryStore(folders.state + "/nfc/background")
        unlocks = UnlockMemory(store)
        marks = EntryMarks(store, boot: SystemFiles.boot)
    }

    /// The reader's environment.
    ///
    /// - Throws: ``Failure`` when there is no reader and none can appear later.
    private static func environment(_ reader: ReaderConfiguration, _ log: Log) throws(Failure) -> NFCEnvironment {
        let environment = NFCEnvironment.background(reader) { text in
            DispatchQueue.main.async { MainActor.assumeIsolated { log.write("notice", text) } }
        }
        guard case .none(let reason) = environment.reader, reader.reader != "none" else { return environment }
        let code = environment.tagFileError?.code.description ?? environment.recordingError?.code.description
        throw Failure(code ?? "no-reader", reason, status: code == nil ? 3 : 1)
    }

    /// Takes the service's name on the bus. So only one process at a time uses the inbox and the gate.
    private static func connect() throws(Failure) -> BusConnection {
        do throws(BusError) {
            let bus = try BusConnection(.user)
            try bus.take(Self.name)
            return bus
        } catch  where error.code == .nameTaken {
            throw Failure("already-running", "nfcd runs already.")
        } catch {
            throw Failure("no-bus", error.reason)
        }
    }

    func start() throws {
        log.write("started", "The service runs.")
        source = DispatchSource.makeReadSource(fileDescriptor: bus.descriptor, queue: .main)
        source?.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.receive() } }
        source?.activate()
        for number in [SIGTERM, SIGINT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.end() } }
            source.activate()
            signals.append(source)
        }
        notifier = try Notifier(bus, try? DirectoryStore(ReaderGate.ofUser.folder)) { [weak self] event in
            self?.take(event)
        }
        gate = try ReaderGateServer(.ofUser) { [weak self] identifiers in
            DispatchQueue.main.async { MainActor.assumeIsolated { self?.handle(.readByApp(identifiers)) } }
        } onChange: { [weak self] purposes in
            DispatchQueue.main.async { MainActor.assumeIsolated { self?.readerIsWanted(for: purposes) } }
        }
        watcher = TagWatcher(environment) { [weak self, opener, linkQueue] event in
            // Events are handled in order. Sites' association files are read and compiled on this queue.
            linkQueue.async {
                if case .read = event { opener.warmUp() }
                DispatchQueue.main.async { MainActor.assumeIsolated { self?.take(event) } }
            }
        }
        if case .none(let reason) = environment.reader { surroundings.reader = .missing(reason: reason) }
        // Reading the sites' files may take long. Meanwhile the main queue answers calls and signals.
        linkQueue.async { [weak self, opener] in
            opener.warmUp()
            DispatchQueue.main.async { MainActor.assumeIsolated { self?.begin() } }
        }
        receive()
    }

    /// Starts to read tags, after the stored association files were compiled.
    private func begin() {
        do {
            try restore()
        } catch {
            log.fail("inbox", "\(error)")
            exit(1)
        }
        session = SessionWatch { [weak self] in self?.surroundingsChanged() }
        devices = DeviceWatch { [weak self] in self?.surroundingsChanged() }
        desktop = DesktopWatch(bus) { [weak self] in self?.surroundingsChanged() }
        links = LinkRefresh(opener.folders, log) { [opener, linkQueue] in linkQueue.async { opener.warmUp() } }
        surroundingsChanged()
        do throws(BusError) {
            for call in earlyCalls { try call.message.answer([.string(open(call.id))]) }
        } catch {
            log.fail("no-bus", error.reason)
            exit(1)
        }
        earlyCalls = []
        receive()
    }

    private func restore() throws {
        try inbox.recover()
        watchInbox()
        let content = try inbox.content()
        tellDamaged(content.damaged)
        let early = inputs
        inputs = []
        isRestored = true
        reloadRouter()
        attempt { () throws(StorageError) in try marks.keepOnly(Set(content.entries.map(\.id))) }
        handle(
            .restored(
                EarlierRun(
                    entries: content.entries,
                    shown: notifier?.shownEntries ?? [],
                    summarized: notifier?.summarizedEntries ?? [],
                    marks: marks.marks
                )
            )
        )
        for input in early { handle(input) }
    }

    private func end() {
        log.write("ended", "The service ends.")
        guard let watcher else { exit(0) }
        Task {
            await watcher.stop()
            exit(0)
        }
    }

    // MARK: What happens

    func receive() {
        let wasSilent = bus.isSilent
        do throws(BusError) {
            while let message = try bus.receive() {
                if notifier?.take(message) == true || desktop?.take(message) == true { continue }
                if message.isCall { try answer(message) }
            }
        } catch {
            log.fail("no-bus", error.reason)
            exit(1)
        }
        // Shows what could not be shown while the bus did not answer.
        if wasSilent, !bus.isSilent { handle(.desktopReady) }
    }

    /// Opens an entry, like a click on its notification.
    ///
    /// - Returns: one word about the result, for programs.
    func open(_ name: String) -> String {
        guard let id = InboxEntry.ID(name), machine.keptEntries.contains(id) else { return "unknown" }
        activate(id)
        return machine.isLocked ? "locked" : "opening"
    }

    /// Opens an entry with the currently installed apps. New association files are compiled on another queue, so that
    /// the main queue can answer calls and signals meanwhile.
    func activate(_ id: InboxEntry.ID) {
        linkQueue.async { [weak self, opener] in
            opener.warmUp()
            DispatchQueue.main.async {
                MainActor.assumeIsolated {
                    // A logind that hangs does not report a lock.
                    self?.session?.refresh()
                    self?.reloadRouter()
                    self?.handle(.activated(id))
                }
            }
        }
    }

    func reloadRouter() {
        do {
            handle(.router(try opener.router()))
        } catch {
            log.fail("apps", "The apps can't be read: \(error)")
        }
    }

    // MARK: What is done

    func handle(_ input: BackgroundReader.Input) {
        inputs.append(input)
        guard isRestored, !isHandling else { return }
        isHandling = true
        defer { isHandling = false }
        while !inputs.isEmpty {
            for action in machine.handle(inputs.removeFirst(), now: environment.clock.now) { perform(action) }
        }
    }

    private func perform(_ action: BackgroundReader.Action) {
        switch action {
        case .startLooking: watcher?.start()
        case .stopLooking: stopLooking()
        case .store(let entry): store(entry)
        case .announce(let id, let content): announce(id, content)
        case .summarize(let ids, let content): summarize(ids, content)
        case .markAnnounced(let id):
            attempt { () throws(StorageError) in try inbox.markAnnounced(id) }
            Step.reached("announced")
        case .withdraw(let subject): withdraw(subject)
        case .mark(let id, let mark): keep(mark, of: id)
        case .requestUnlock: requestUnlock()
        case .deliver(let id, let delivery): deliver(id, delivery)
        case .remove(let id):
            tokens[id] = nil
            attempt { () throws(StorageError) in try inbox.remove(id) }
            Step.reached("removed")
            keep(nil, of: id)
        case .note(let note): log.write(note.event, note.text)
        }
    }

    private func keep(_ mark: EntryMark?, of id: InboxEntry.ID) {
        attempt { () throws(StorageError) in try marks.keep(mark, of: id) }
        Step.reached(mark.map { "marked-\($0)" } ?? "unmarked")
    }

    @discardableResult
    func attempt(_ body: () throws(StorageError) -> Void) -> Bool {
        do throws(StorageError) {
            try body()
            return true
        } catch {
            log.fail("inbox", "The inbox: \(error.reason)")
            return false
        }
    }
}
