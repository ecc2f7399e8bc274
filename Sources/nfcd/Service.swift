// SPDX-License-Identifier: Apache-2.0
import BackgroundStorage
import BackgroundTagReading
import Dispatch
import Foundation
import NFCRuntime
import PrivateStorage
import UserBus

/// The service: gives the machine what happens, and does what it says. Everything is on the main queue.
final class Service {
    /// Why the service can't begin, as a sentence for people.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    static let name = "org.opencorenfc.Background"

    let options: Options
    let log: Log
    let bus: BusConnection
    let inbox: Inbox<DirectoryStore>
    let opener: Opener
    let unlocks: UnlockMemory
    private let environment: NFCEnvironment
    var machine = BackgroundReader()
    var surroundings = Surroundings()
    var notifier: Notifier?
    var tokens: [InboxEntry.ID: String] = [:]
    private var watcher: TagWatcher?
    private var gate: ReaderGateServer?
    private var session: SessionWatch?
    private var devices: DeviceWatch?
    private var desktop: DesktopWatch?
    private var inboxFiles: FileWatch?
    private var links: LinkRefresh?
    private var source: (any DispatchSourceRead)?
    private var signals: [any DispatchSourceSignal] = []
    private var inputs: [BackgroundReader.Input] = []
    private var isHandling = false
    private var isBegun = false
    private var lastNear: [[UInt8]] = []
    /// Where the time between a tag's coming and its notification is counted from.
    private var reading: TagWatcher.Reading?

    init(_ options: Options, _ log: Log) throws {
        self.options = options
        self.log = log
        let variables = ProcessInfo.processInfo.environment
        let folders = UserFolders(environment: variables)
        bus = try BusConnection(.user)
        do throws(BusError) {
            // Only one service at a time has the inbox and the gate.
            try bus.take(Self.name)
        } catch  where error.code == .nameTaken {
            throw Failure(description: "nfcd runs already.")
        }
        inbox = try Inbox(of: folders)
        opener = Opener(variables, allowsCustomSchemes: options.allowsCustomSchemes)
        unlocks = try UnlockMemory(folders)
        environment = .background(options.reader)
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
        gate = try ReaderGateServer(.ofUser) { [weak self] purposes in
            DispatchQueue.main.async { MainActor.assumeIsolated { self?.readerIsWanted(for: purposes) } }
        }
        watcher = TagWatcher(environment) { [weak self] event in
            DispatchQueue.main.async { MainActor.assumeIsolated { self?.take(event) } }
        }
        surroundings.isReaderThere = watcher != nil
        if case .none(let reason) = environment.reader { surroundings.reader = reason }
        if let watcher { surroundings.reader = watcher.readerName }
        try restore()
        session = SessionWatch { [weak self] in self?.surroundingsChanged() }
        devices = DeviceWatch { [weak self] in self?.surroundingsChanged() }
        desktop = DesktopWatch(bus) { [weak self] in self?.surroundingsChanged() }
        links = LinkRefresh(opener.folders, log)
        surroundingsChanged()
        receive()
    }

    private func restore() throws {
        try inbox.recover()
        inboxFiles = FileWatch { [weak self] in self?.inboxChanged() }
        inboxFiles?.add(opener.folders.state + "/nfc/inbox", Int32(IN_DELETE | IN_MOVED_FROM))
        let content = try inbox.content()
        for name in content.damaged { log.write("damaged", "The file \(name) of the inbox is damaged.") }
        reloadRouter()
        handle(.restored(content.entries))
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

    private func receive() {
        do throws(BusError) {
            while let message = try bus.receive() {
                if notifier?.take(message) == true || desktop?.take(message) == true { continue }
                if message.isCall { try message.answer(answer(message)) }
            }
        } catch {
            log.write("failed", error.reason)
            exit(1)
        }
    }

    private func answer(_ message: ReceivedMessage) -> [BusValue]? {
        message.name == "org.opencorenfc.Background1.Status" ? [.string(statusText)] : nil
    }

    /// Somebody else has removed entries, such as `nfc inbox`.
    private func inboxChanged() {
        guard let there = try? inbox.identifiers() else { return }
        for id in machine.keptEntries where !there.contains(id) { handle(.cleared(id)) }
    }

    private func readerIsWanted(for purposes: Set<ReaderGate.Purpose>) {
        surroundings.isReaderSessionActive = purposes.contains(.session)
        surroundings.isCardActive = purposes.contains(.card)
        surroundingsChanged()
        guard !purposes.isEmpty else { return }
        Task {
            await watcher?.stop()
            gate?.grant()
        }
    }

    private func surroundingsChanged() {
        // Before all of them are there nothing is known.
        guard let session, let devices, let desktop else { return }
        surroundings.session = session.session
        surroundings.isGoingToSleep = session.isGoingToSleep
        surroundings.isCameraOpen = devices.isCameraOpen
        surroundings.radios = devices.radios
        surroundings.powerSaveMode = desktop.powerSaveMode
        surroundings.isScreenSaverOn = desktop.isScreenSaverOn
        surroundings.isDisplayLit = surroundings.powerSaveMode == nil ? SystemFiles.isDisplayLit : nil
        if surroundings.isUnlocked { unlocks.remember() }
        surroundings.wasUnlocked = unlocks.isRemembered
        if machine.isLocked != surroundings.isLocked {
            log.write("lock", surroundings.isLocked ? "The screen is locked." : "The screen is unlocked.")
            handle(.lock(isLocked: surroundings.isLocked))
        }
        let conditions = surroundings.conditions
        guard machine.conditions != conditions || !isBegun else { return }
        // The machine has nothing to say of reasons that come and go while others keep tags from being read.
        if !conditions.allowReading, !isBegun || !machine.conditions.allowReading { tellObstacles(conditions) }
        isBegun = true
        handle(.conditions(conditions))
    }

    private func tellObstacles(_ conditions: ReadingConditions) {
        log.write(
            "not-reading",
            "Tags are not read. \(conditions.obstacles.map(\.reason).joined(separator: " "))",
            ["obstacles": conditions.obstacles.map(\.rawValue).joined(separator: " ")]
        )
    }

    private func take(_ event: TagWatcher.Event) {
        switch event {
        case .available:
            surroundings.reader = watcher?.readerName ?? ""
            guard !surroundings.isReaderThere else { return }
            surroundings.isReaderThere = true
        case .unavailable(let reason):
            surroundings.reader = reason
            log.write("no-reader", reason)
        case .near(let identifiers):
            for identifier in lastNear where !identifiers.contains(identifier) {
                handle(.left(identifier: identifier))
            }
            lastNear = identifiers
            if identifiers.isEmpty { handle(.nothingNear) }
        case .read(let reading):
            lastNear.append(reading.identifier)
            // Sources that can't tell of a change are asked now.
            if surroundings.isDisplayLit != nil { surroundingsChanged() }
            reloadRouter()
            self.reading = reading
            let id = InboxEntry.ID(
                received: UInt64(max(Date().timeIntervalSince1970 * 1000, 0)),
                number: .random(in: 0...UInt32.max)
            )
            handle(.read(TagReading(identifier: reading.identifier, message: reading.message), id))
            self.reading = nil
        }
    }

    private func take(_ event: Notifier.Event) {
        switch event {
        case .shown(let id):
            handle(.announced(id))
            log.write("shown", "The notification is shown.", ["id": "\(id)"])
        case .activated(let id, let token):
            tokens[id] = token
            reloadRouter()
            handle(.activated(id))
        case .failed(let reason):
            log.write("not-shown", "No notification can be shown, the inbox has the link: \(reason)")
        }
    }

    func reloadRouter() {
        do {
            handle(.router(try opener.router()))
        } catch {
            log.write("failed", "The apps can't be read: \(error)")
        }
    }

    // MARK: What is done

    func handle(_ input: BackgroundReader.Input) {
        inputs.append(input)
        guard !isHandling else { return }
        isHandling = true
        defer { isHandling = false }
        while !inputs.isEmpty {
            for action in machine.handle(inputs.removeFirst(), now: environment.clock.now) { perform(action) }
        }
    }

    private func perform(_ action: BackgroundReader.Action) {
        switch action {
        case .startReading:
            log.write("reading", "Tags are read.")
            watcher?.start()
        case .stopReading:
            tellObstacles(machine.conditions)
            Task { await watcher?.stop() }
        case .store(let entry): store(entry)
        case .announce(let id, let content):
            if let reading {
                let elapsed = environment.clock.now - reading.noticed
                log.write(
                    "arrived",
                    "A tag was read: \(Self.milliseconds(elapsed)) ms, \(Self.milliseconds(reading.airtime)) ms of it on the air.",
                    content: content.body,
                    ["id": "\(id)", "ms": Self.milliseconds(elapsed), "air_ms": Self.milliseconds(reading.airtime)]
                )
            }
            Step.reached("before-announcing")
            notifier?.show(id, content)
            Step.reached("announcing")
        case .markAnnounced(let id):
            attempt { () throws(StorageError) in try inbox.markAnnounced(id) }
            Step.reached("announced")
        case .withdraw(let id): notifier?.withdraw(id)
        case .requestUnlock: log.write("waits", "The link is opened when the screen is unlocked.")
        case .deliver(let id, let delivery): deliver(id, delivery)
        case .remove(let id):
            tokens[id] = nil
            attempt { () throws(StorageError) in try inbox.remove(id) }
            Step.reached("removed")
        case .note(let note): log.write(note.event, note.text)
        }
    }

    private func store(_ entry: InboxEntry) {
        Step.reached("before-storing")
        let isKept = attempt { () throws(StorageError) in try inbox.add(entry) }
        Step.reached("stored")
        handle(.stored(entry.id, isKept: isKept))
    }

    @discardableResult
    private func attempt(_ body: () throws(StorageError) -> Void) -> Bool {
        do throws(StorageError) {
            try body()
            return true
        } catch {
            log.write("failed", "The inbox: \(error.reason)")
            return false
        }
    }

    private func deliver(_ id: InboxEntry.ID, _ delivery: Delivery) {
        Step.reached("delivering")
        let (opener, token) = (opener, tokens.removeValue(forKey: id))
        // An app may take long to start: on a thread of its own, with a bus of its own.
        Thread.detachNewThread {
            let failure = opener.open(delivery, token: token)
            DispatchQueue.main.async { MainActor.assumeIsolated { self.delivered(id, failure) } }
        }
    }

    private func delivered(_ id: InboxEntry.ID, _ failure: String?) {
        Step.reached("delivered")
        if let failure {
            log.write("not-delivered", "The link could not be opened: \(failure)", ["id": "\(id)"])
            handle(.deliveryFailed(id))
            if machine.keptEntries.contains(id) { notifier?.show(id, .notOpened(reason: failure)) }
        } else {
            log.write("delivered", "The link is open.", ["id": "\(id)"])
            handle(.delivered(id))
        }
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        return "\(microseconds / 1000).\(String(1000 + microseconds % 1000).dropFirst())"
    }
}
