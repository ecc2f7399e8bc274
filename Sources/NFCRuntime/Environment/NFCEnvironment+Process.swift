// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

extension NFCEnvironment {
    /// The environment of the process, made from `NFC_READER`, `NFC_TAGS`, `NFC_SHEET` and `NFC_RECORD` when it is first
    /// used.
    public static let process = NFCEnvironment(.ofProcess) { departure in
        // The app's error says it too, where the app shows it.
        OutputDescriptor.standardError.write("NFC_READER: \(TerminalText.escaped(departure.reason))\n")
    }

    /// Makes an environment with real time and the sheet that fits the process.
    ///
    /// - Parameters:
    ///   - configuration: which reader. One that can't be had gives an environment without a reader, and the reason.
    ///   - onDeparture: called once, where the reader is a recording and is left; on any thread.
    public convenience init(
        _ configuration: ReaderConfiguration,
        onDeparture: (@Sendable (ReplayDeparture) -> Void)? = nil
    ) {
        let made = Self.made(configuration, onDeparture)
        var reader = made.reader
        var recorder: Recorder?
        var failure = made.recordingError
        if let path = configuration.recording, made.isThere {
            do throws(RecordingError) {
                let file = try Recorder(path: path)
                reader = file.recording(reader)
                recorder = file
            } catch {
                failure = error
                reader = .none(reason: TerminalText.escaped(error.reason))
            }
        }
        self.init(
            reader: reader,
            sheet: SheetChoice.automatic.makeSheet(),
            cardPort: Self.cardPort(configuration.cardReader) ?? made.cardPort,
            gate: made.isThere && made.usesGate ? .ofUser : nil,
            recorder: recorder,
            recordingError: failure,
            onSessionEnd: made.onSessionEnd
        )
    }

    /// A reader, and what comes with it.
    private struct Made {
        var reader: Reader
        var cardPort: (any CardReaderPort)?
        var onSessionEnd: (@Sendable () -> Void)?
        var recordingError: RecordingError?

        var isThere: Bool { if case .none = reader { false } else { true } }
        /// Whether the service may want the reader too; it has no use for a recording.
        var usesGate = true
    }

    private static func made(
        _ configuration: ReaderConfiguration,
        _ onDeparture: (@Sendable (ReplayDeparture) -> Void)?
    ) -> Made {
        let parts = (configuration.reader ?? defaultReader(configuration)).split(separator: ":", maxSplits: 1)
        let rest = parts.dropFirst().first.map(String.init)
        switch parts.first {
        case nil, "virtual": return virtual(configuration)
        case "none": return Made(reader: .none(reason: "NFC_READER is none, so there is no reader."))
        case "pcsc": return Made(reader: pcscReader(rest))
        case "pn532":
            let (reader, cardPort) = pn532(rest ?? "")
            return Made(reader: reader, cardPort: cardPort)
        case "replay": return replay(rest, onDeparture)
        case .some(let name):
            let escaped = TerminalText.escaped(String(name))
            let reason = "There is no reader \"\(escaped)\"; use virtual, pcsc, pn532:PATH, replay:FILE or none."
            return Made(reader: .none(reason: reason))
        }
    }

    private static func virtual(_ configuration: ReaderConfiguration) -> Made {
        do throws(ImageFiles.Failure) {
            if let folder = configuration.tags, ImageFolder.isFolder(folder) {
                let field = VirtualField()
                _ = try ImageFolder(folder, field: field)
                return Made(reader: .field(field))
            }
            let images = try ImageFiles(configuration)
            let field = VirtualField()
            for tag in images.tags { field.bring(tag) }
            return Made(reader: .field(field), onSessionEnd: images.saver)
        } catch {
            return Made(reader: .none(reason: error.reason))
        }
    }

    /// A recording as a reader, or the reason why there is none.
    private static func replay(_ path: String?, _ onDeparture: (@Sendable (ReplayDeparture) -> Void)?) -> Made {
        guard let path, !path.isEmpty else { return Made(reader: .none(reason: "Name the recording: replay:FILE.")) }
        do throws(RecordingError) {
            return Made(
                reader: RecordingReplay(try Recording(path: path), onDeparture: onDeparture).reader,
                usesGate: false
            )
        } catch {
            return Made(reader: .none(reason: TerminalText.escaped(error.reason)), recordingError: error)
        }
    }

    /// Where apps of the process are cards.
    private static func cardPort(_ name: String?) -> (any CardReaderPort)? {
        guard let parts = name?.split(separator: ":", maxSplits: 1), parts.first == "pcsc" else { return nil }
        return PCSCCardPort(path: parts.count == 2 ? String(parts[1]) : nil)
    }
}
