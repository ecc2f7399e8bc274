// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import NFCReaders
import NFCRuntime
import NFCTestKit
import TagLink
import TestThreads
import Testing
import VirtualTags

/// Checks which environment code runs in, and who gets which notice.
@Suite(.timeLimit(.minutes(1))) struct `The environment of sessions` {
    private static func environment(isOfTest: Bool) -> NFCEnvironment {
        NFCEnvironment(reader: .none(reason: "None."), clock: ManualClock(), isOfTest: isOfTest)
    }

    @Test(arguments: [true, false]) func `An app is called on its queue, within a test's environment`(isOfTest: Bool)
        async
    {
        let environment = Self.environment(isOfTest: isOfTest)
        let (queue, key) = (DispatchQueue(label: "app"), DispatchSpecificKey<Bool>())
        queue.setSpecific(key: key, value: true)
        let (isOnQueue, scoped): (Bool, NFCEnvironment?) = await handedOver { done in
            environment.call(on: queue) { done((DispatchQueue.getSpecific(key: key) == true, NFCEnvironment.scoped)) }
        }
        #expect(isOnQueue)
        #expect((scoped === environment) == isOfTest)
    }

    @Test func `A value of an app's property list is a text, several, or a flag that is set`() {
        let values: [AppProperties.Value] = ["one", ["one", "two"], true, false]
        #expect(values.map(\.texts) == [["one"], ["one", "two"], ["true"], []])
        // An app that declares nothing is asked for nothing.
        #expect(AppProperties().infoPlist == nil && AppProperties().entitlements == nil && !AppProperties().isStrict)
    }

    @Test func `An app's author learns whether a card without a listed application arrives`() {
        for (arrives, words) in [(true, "it arrives as .miFare and not as .iso7816."), (false, "it is not reported.")] {
            #expect(SilentMistake.noListedApplication(arrives: arrives).explanation.contains(words))
        }
    }

    @Test func `An environment is of an app, unless it has a test's place or says otherwise`() {
        let (clock, reader) = (ManualClock(), NFCEnvironment.Reader.none(reason: "None."))
        #expect(!NFCEnvironment(reader: reader, clock: clock).isOfTest)
        #expect(NFCEnvironment(reader: reader, clock: clock, place: Place()).isOfTest)
        #expect(NFCEnvironment(reader: reader).clock === SystemClock.shared)
    }

    @Test func `A task's environment is its own and its children's`() async {
        let environment = Self.environment(isOfTest: true)
        await NFCEnvironment.$scoped.withValue(environment) {
            #expect(NFCEnvironment.current === environment && NFCEnvironment.ofTest === environment)
            let inChild = await Task { NFCEnvironment.current }.value
            #expect(inChild === environment)
        }
        #expect(NFCEnvironment.scoped == nil)
    }

    /// A test kit's place, which prints nothing but lines that begin with an exclamation mark.
    private final class Place: TestPlace {
        let objects = Locked<[(ObjectIdentifier, MadeObject)]>([])

        func made(_ object: AnyObject, as kind: MadeObject) {
            objects.withLock { $0.append((ObjectIdentifier(object), kind)) }
        }

        func willConnect() {}
        func prints(_ notice: String) -> Bool { notice.hasPrefix("!") }
    }

    @Test func `A test's place gets each tag that a session finds, also when it finds it again`() async throws {
        let field = VirtualField()
        for number: UInt8 in 1...2 { field.bring(VirtualType2Tag(.ntag213, uid: [4, 1, 2, 3, 4, 5, number])) }
        let place = Place()
        let environment = NFCEnvironment(reader: .field(field), clock: ManualClock(), place: place)
        let session = try #require(ReaderSession(environment: environment))
        let (found, continuation) = AsyncStream.makeStream(of: [ConnectableTag].self)
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        session.observe { event in
            if case .detected(let tags) = event { continuation.yield(tags) }
            if case .ended = event { ended.yield() }
        }
        session.begin()
        var looks = found.makeAsyncIterator()
        let first = try #require(await looks.next())
        session.restartPolling()
        let second = try #require(await looks.next())
        let objects = place.objects.withLock { $0 }
        #expect(objects.map(\.0) == (first + second).map { ObjectIdentifier($0) } && first.count == 2)
        #expect(objects.allSatisfy { $0.1 == .tag })
        session.invalidate()
        for await _ in ends { break }
    }

    @Test(.ownThreads)
    func
        `A line to the author is one line on standard error, unless a test keeps it, and each is said once where that is wanted`()
        async
    {
        let end = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let plain = NFCEnvironment(reader: .none(reason: "None."))
            plain.notice("Two\nlines.")
            for _ in 0..<3 { plain.noticeOnce("Once.", from: "NFC_READER") }
            let kept = Locked<[String]>([])
            let ofTest = NFCEnvironment(
                reader: .none(reason: "None."),
                clock: ManualClock(),
                onNotice: { text in kept.withLock { $0.append(text) } },
                place: Place()
            )
            ofTest.notice("Kept.")
            ofTest.notice("!Printed.")
            ofTest.noticeOnce("Kept.")
            exit(kept.withLock { $0 } == ["Kept.", "!Printed.", "Kept."] ? 0 : 1)
        }
        let text = String(decoding: end?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("CoreNFC: Two\\nlines.\nNFC_READER: Once.\nCoreNFC: !Printed.\n"))
        #expect(!text.contains("Kept"))
    }

    @Test(.ownThreads, arguments: [("xterm", true), ("dumb", false), ("", false), (nil, false)] as [(String?, Bool)])
    func `A person sits at a terminal that can draw`(term: String?, isInteractive: Bool) async {
        await #expect(processExitsWith: .success) { [term, isInteractive] in
            // Swift's Glibc lacks posix_openpt and related functions. This does the same.
            let master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
            var (locked, number) = (CInt(0), CUnsignedInt(0))
            guard unsafe ioctl(master, UInt(0x4004_5431), &locked) == 0,
                unsafe ioctl(master, UInt(0x8004_5430), &number) == 0
            else { exit(2) }
            let terminal = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
            if let term { _ = unsafe setenv("TERM", term, 1) } else { _ = unsafe unsetenv("TERM") }
            let nowhere = unsafe open("/dev/null", O_RDWR)
            // Both standard input and standard error must be the terminal.
            for (input, errors) in [(nowhere, terminal), (terminal, nowhere), (nowhere, nowhere)] {
                dup2(input, STDIN_FILENO)
                dup2(errors, STDERR_FILENO)
                guard !SheetChoice.isInteractive else { exit(1) }
            }
            dup2(terminal, STDIN_FILENO)
            dup2(terminal, STDERR_FILENO)
            _ = unsafe unsetenv("NFC_SHEET")
            let isTerminal = SheetChoice.automatic == .terminal
            exit(SheetChoice.isInteractive == isInteractive && isTerminal == isInteractive ? 0 : 1)
        }
    }

    @Test(
        .ownThreads,
        arguments: [(nil, nil), ("", nil), ("/run/x", "/run/x/nfc/background"), ("relative", nil)]
            as [(String?, String?)]
    )
    func `The user's gate is in the user's folder`(folder: String?, path: String?) async {
        await #expect(processExitsWith: .success) { [folder, path] in
            if let folder {
                _ = unsafe setenv("XDG_RUNTIME_DIR", folder, 1)
            } else {
                _ = unsafe unsetenv("XDG_RUNTIME_DIR")
            }
            exit(ReaderGate.ofUser.path == path ?? "/run/user/\(geteuid())/nfc/background" ? 0 : 1)
        }
    }

    @Test(.ownThreads) func `The process's reader is what its variables say`() async {
        await #expect(processExitsWith: .success) {
            let names = ["NFC_READER", "NFC_TAGS", "NFC_TAGS_SAVE", "NFC_CARD_READER", "NFC_RECORD"]
            for name in names { _ = unsafe unsetenv(name) }
            guard ReaderConfiguration.ofProcess == ReaderConfiguration() else { exit(1) }
            for name in names { _ = unsafe setenv(name, "", 1) }
            // Nothing is a list of no images, and no name for the others.
            guard ReaderConfiguration.ofProcess == ReaderConfiguration(tags: "") else { exit(2) }
            for name in names { _ = unsafe setenv(name, "0", 1) }
            let zeros = ReaderConfiguration(reader: "0", tags: "0", cardReader: "0", recording: "0")
            guard ReaderConfiguration.ofProcess == zeros else { exit(3) }
            for name in names { _ = unsafe setenv(name, name, 1) }
            let all = ReaderConfiguration(
                reader: "NFC_READER",
                tags: "NFC_TAGS",
                savesTags: true,
                cardReader: "NFC_CARD_READER",
                recording: "NFC_RECORD"
            )
            exit(ReaderConfiguration.ofProcess == all ? 0 : 4)
        }
    }
}
