// SPDX-License-Identifier: Apache-2.0
public import NFCSessions
import TagLink
public import TagTrace
import TextSafety

extension NFCEnvironment {
    /// The environment of the process. It is created from `NFC_READER`, `NFC_TAGS`, `NFC_SHEET` and `NFC_RECORD` when
    /// it is first used.
    public static let process: NFCEnvironment = NFCEnvironment(.ofProcess) { departure in
        // The session that ends because of this has the same reason, and does not report it again.
        NFCEnvironment.process.noticeOnce(departure.reason, from: "NFC_READER")
    }

    /// The environment for new sessions: the test's, or else the process's.
    public static var current: NFCEnvironment { ofTest ?? .process }

    /// Creates an environment with real time and the sheet that fits the process.
    ///
    /// - Parameters:
    ///   - configuration: which reader. If it can't be used, the environment has no reader, and the reason.
    ///   - onDeparture: called once when the reader is a recording, and the app departs from it; on any thread.
    public convenience init(
        _ configuration: ReaderConfiguration,
        onDeparture: (@Sendable (ReplayDeparture) -> Void)? = nil
    ) {
        var made = Self.made(configuration, onDeparture)
        var recorder: Recorder?
        if let path = configuration.recording, made.exists {
            do throws(RecordingError) {
                let file = try Recorder(path: path)
                made.reader = file.recording(made.reader)
                // Its first line is written by now.
                if let failure = file.failure { throw failure }
                recorder = file
            } catch {
                made.recordingError = error
                made.reader = .none(reason: VisibleText.escaped(error.reason))
            }
        }
        self.init(
            reader: made.reader,
            sheet: (SheetChoice.isNamed ? nil : made.sheet) ?? SheetChoice.automatic.makeSheet(),
            cardPort: Self.cardPort(configuration.cardReader) ?? made.cardPort,
            isOfTest: false,
            gate: made.gate ?? (made.exists && made.isShared ? ReaderGate.ofUser : nil),
            sessionEndObserver: ReaderFiles(made, recorder: recorder),
            host: made.host
        )
    }

    /// The reader of a configuration. Without a name it is the first that a kind finds, else the virtual field, which has
    /// the images of tags in any case.
    private static func made(_ configuration: ReaderConfiguration, _ onDeparture: ReaderKind.Departure?)
        -> ResolvedReader
    {
        if let name = configuration.reader.map(ReaderName.init) {
            return ReaderKind.named(name)?.make(name, configuration, onDeparture) ?? .unknown(name)
        }
        guard configuration.tags == nil else { return ReaderKind.virtualReader(configuration) }
        do throws(LinkError) {
            for kind in ReaderKind.all {
                if let find = kind.find, let made = try find(configuration) { return made }
            }
            return ReaderKind.virtualReader(configuration)
        } catch {
            return ResolvedReader(none: error.reason)
        }
    }

    /// Where apps of the process are cards.
    private static func cardPort(_ name: String?) -> (any CardReaderPort)? {
        guard let name = name.map(ReaderName.init) else { return nil }
        return ReaderKind.named(name)?.cardPort(name)
    }

    // MARK: The service

    /// Creates the environment of the background service. It does not ask for the reader, shows no sheet, and accepts a
    /// reader that is connected later.
    ///
    /// - Parameters:
    ///   - configuration: which reader; without a name, the first of PC/SC. The virtual reader only has tags if images
    ///     are named; their folder need not exist yet.
    ///   - onNotice: called with a sentence for each file that can't be used; on any thread. Nothing is written to
    ///     standard error.
    /// - Returns: an environment without a reader when none can ever exist: its name is invalid, or its file can't be
    ///   used (``tagFileError``, ``recordingError``).
    public static func background(
        _ configuration: ReaderConfiguration,
        onNotice: @escaping @Sendable (String) -> Void
    ) -> NFCEnvironment {
        let name = ReaderName(configuration.backgroundReader)
        let made =
            ReaderKind.named(name)?.makeForService(name, configuration, onNotice) ?? Self.made(configuration, nil)
        return NFCEnvironment(
            reader: made.reader,
            isOfTest: false,
            sessionEndObserver: ReaderFiles(made)
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

    /// The recording that acts as the reader, also while it is recorded again; nil for another kind of reader.
    public var replay: RecordingReplay? { (driver?.unrecorded as? any ReplayingDriver)?.replay }
    /// Records everything at the reader; nil when nothing is recorded.
    public var recorder: Recorder? { files?.recorder }
    /// Why the recording can't be written or replayed. Then there is no reader.
    public var recordingError: RecordingError? { files?.reader.recordingError }
    /// Why a file of `NFC_TAGS` can't be used. Then there is no reader.
    public var tagFileError: TagFileError? { files?.reader.tagFileError }
    /// Saves the images of virtual tags after each session; nil when they are not saved.
    public var tagSaver: TagFileSaver? { files?.reader.tagSaver }
}
