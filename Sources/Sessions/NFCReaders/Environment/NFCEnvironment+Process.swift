// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
import TagLink
public import TagTrace
import TextSafety

extension NFCEnvironment {
    /// The environment of the process, created from `NFC_READER`, `NFC_TAGS`, `NFC_SHEET` and `NFC_RECORD` at its first
    /// use.
    ///
    /// In a process that runs tests, there is no reader unless `NFC_READER` or `NFC_TAGS` names one: a test must not
    /// use a tag that happens to lie on a reader.
    public static let process: NFCEnvironment = {
        let configuration = ReaderConfiguration.ofProcess
        let runsTests = CommandLine.arguments.first?.hasSuffix(".xctest") == true
        if runsTests, configuration.reader == nil, configuration.tags == nil {
            let reason = """
                A test uses Core NFC outside of a field, so there is no reader. Call the code inside withField of \
                NFCTestKit, or give the test the trait .field. To use a real reader, set NFC_READER.
                """
            return NFCEnvironment(reader: .none(reason: reason))
        }
        return NFCEnvironment(configuration) { departure in
            // The session ends with the same reason, which `noticeOnce` does not report again.
            NFCEnvironment.process.noticeOnce(departure.reason, from: "NFC_READER")
        }
    }()

    /// The environment for new sessions: that of the caller's test, or else that of the process.
    public static var current: NFCEnvironment { ofTest ?? .process }

    /// Creates an environment with real time and the appropriate sheet for the process.
    ///
    /// - Parameters:
    ///   - configuration: the reader to use. If it is not usable, the environment contains the reason instead of a
    ///     reader.
    ///   - onDeparture: called once if the reader is a recording and the app departs from it; on any thread.
    public convenience init(
        _ configuration: ReaderConfiguration,
        onDeparture: (@Sendable (ReplayDeparture) -> Void)? = nil
    ) {
        var resolved = Self.resolved(configuration, onDeparture)
        var recorder: Recorder?
        if let path = configuration.recording, resolved.exists {
            do throws(RecordingError) {
                let file = try Recorder(path: path)
                resolved.reader = file.recording(resolved.reader)
                // The recorder has already written its first line.
                if let failure = file.failure { throw failure }
                recorder = file
            } catch {
                resolved.recordingError = error
                resolved.reader = .none(reason: VisibleText.escaped(error.reason))
            }
        }
        self.init(
            reader: resolved.reader,
            sheet: (SheetChoice.isNamed ? nil : resolved.sheet) ?? SheetChoice.automatic.makeSheet(),
            limits: .phone,
            cardPort: Self.cardPort(configuration.cardReader) ?? resolved.cardPort,
            belongsToTest: false,
            gate: resolved.gate ?? (resolved.exists && resolved.isShared ? ReaderGate.ofUser : nil),
            sessionEndObserver: ReaderFiles(resolved, recorder: recorder),
            host: resolved.host
        )
    }

    /// Creates the reader of a configuration. Without a name, this is the virtual field if tag images are given;
    /// otherwise the first connected reader, or else the virtual field.
    private static func resolved(_ configuration: ReaderConfiguration, _ onDeparture: ReaderKind.Departure?)
        -> ResolvedReader
    {
        if let name = configuration.reader.map(ReaderName.init) {
            return ReaderKind.named(name)?.make(name, configuration, onDeparture) ?? .unknown(name)
        }
        guard configuration.tags == nil else { return ReaderKind.virtualReader(configuration) }
        do throws(LinkError) {
            for kind in ReaderKind.all {
                if let find = kind.find, let resolved = try find(configuration) { return resolved }
            }
            return ReaderKind.virtualReader(configuration)
        } catch {
            return ResolvedReader(none: error.reason)
        }
    }

    /// Creates the port with this name for card emulation; nil for an unsuitable name.
    private static func cardPort(_ name: String?) -> (any CardReaderPort)? {
        guard let name = name.map(ReaderName.init) else { return nil }
        return ReaderKind.named(name)?.cardPort(name)
    }

    // MARK: The service

    /// Creates the environment of the background service, which shows no sheet, does not ask for the reader, and
    /// accepts a reader that is connected later.
    ///
    /// - Parameters:
    ///   - configuration: the reader to use; without a name, the first contactless PC/SC reader. The virtual reader has
    ///     tags only if images are named; their folder need not exist yet.
    ///   - onNotice: called with a sentence for each file that can't be used; on any thread. Nothing is written to
    ///     standard error.
    /// - Returns: the environment. It has no reader if the reader's name is invalid or a file can't be used
    ///   (``tagFileError``, ``recordingError``).
    public static func background(
        _ configuration: ReaderConfiguration,
        onNotice: @escaping @Sendable (String) -> Void
    ) -> NFCEnvironment {
        let name = ReaderName(configuration.backgroundReader)
        let resolved =
            ReaderKind.named(name)?.makeForService(name, configuration, onNotice) ?? Self.resolved(configuration, nil)
        return NFCEnvironment(
            reader: resolved.reader,
            belongsToTest: false,
            sessionEndObserver: ReaderFiles(resolved)
        )
    }
}

/// The files that belong to a reader: its recording, and the images of its tags.
private final class ReaderFiles: SessionEndObserver {
    let reader: ResolvedReader
    let recorder: Recorder?

    init(_ reader: ResolvedReader, recorder: Recorder? = nil) {
        self.reader = reader
        self.recorder = recorder
    }

    func sessionEnded() { reader.tagSaver?.save() }
}

extension NFCEnvironment {
    private var files: ReaderFiles? { sessionEndObserver as? ReaderFiles }

    /// The recording that acts as the reader, even while a new recording is made of it; nil for other readers.
    public var replay: RecordingReplay? { (driver?.unrecorded as? any ReplayingDriver)?.replay }
    /// The recorder of the reader's traffic; nil when nothing is recorded.
    public var recorder: Recorder? { files?.recorder }
    /// Why the recording can't be written or replayed; nil if it can. If set, the environment has no reader.
    public var recordingError: RecordingError? { files?.reader.recordingError }
    /// Why a file of `NFC_TAGS` can't be used; nil if all can. If set, the environment has no reader.
    public var tagFileError: TagFileError? { files?.reader.tagFileError }
    /// Saves the images of virtual tags after each session; nil when the images are not saved.
    public var tagSaver: TagFileSaver? { files?.reader.tagSaver }
}
