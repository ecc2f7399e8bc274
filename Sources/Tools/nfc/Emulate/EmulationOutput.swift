// SPDX-License-Identifier: Apache-2.0
import ReaderEmulation
import TagLink
import TagTrace
import TextSafety
import VirtualTags

/// Prints an emulation's events, as sentences or as one JSON object per line.
final class EmulationOutput: Sendable {
    private let json: Bool
    private let write: @Sendable ([UInt8]) -> Void
    private let onBroken: @Sendable () -> Void
    /// Keeps lines printed by different threads from mixing.
    private let outputLock = Locked()
    private let explainer = Locked(ExchangeExplainer())

    init(
        json: Bool,
        write: @escaping @Sendable ([UInt8]) -> Void = { StandardOutput.write($0) },
        onBroken: @escaping @Sendable () -> Void
    ) {
        self.json = json
        self.write = write
        self.onBroken = onBroken
    }

    // MARK: The reader

    func readyPN532(path: String, terminal: String, product: String, tag: any VirtualTag) {
        let name = NfcpyPath(line: path)?.text
        let hint = "needs a path in /dev, of letters, digits and hyphens: --pn532 /dev/NAME"
        event(
            "ready",
            [
                "reader": "pn532", "path": path, "terminal": terminal, "libnfc_device": "pn532_uart:" + path,
                "nfcpy_path": name, "product": product, "uid": tag.identifier.hexText(),
            ],
            [
                "A PN532 at \(path), with \(Self.name(product, tag)) in its field",
                "  libnfc: LIBNFC_DEVICE=pn532_uart:\(path) nfc-list",
                "  nfcpy:  " + (name.map { "nfc.ContactlessFrontend('\($0)')" } ?? hint), "Press Ctrl-C to stop.",
            ]
        )
    }

    func readyAir(_ reader: String, product: String) {
        event(
            "ready",
            ["reader": reader, "product": product],
            ["\(reader) shows \(product) to phones and readers.", "Press Ctrl-C to stop."]
        )
    }

    func readyFacing(_ path: String, terminal: String, facing: String, terminal facingTerminal: String) {
        event(
            "ready",
            [
                "reader": "pn532", "path": path, "terminal": terminal, "libnfc_device": "pn532_uart:" + path,
                "facing_path": facing, "facing_terminal": facingTerminal,
                "facing_libnfc_device": "pn532_uart:" + facing,
            ],
            [
                "Two PN532 in each other's field, at \(path) and \(facing)",
                "  A card:   LIBNFC_DEVICE=pn532_uart:\(facing) nfc-emulate-forum-tag4",
                "  A reader: nfc scan --reader pn532:\(path)", "Press Ctrl-C to stop.",
            ]
        )
    }

    func readyPCSC(
        reader: String,
        configuration: String,
        isInstalled: Bool,
        daemon: PrivatePCSCD?,
        product: String,
        tag: any VirtualTag
    ) {
        let steps: [String] =
            if let daemon {
                [
                    "  Start programs with these settings to find it:",
                    "    export PCSCLITE_CSOCK_NAME=\(daemon.socketPath)",
                ]
            } else if isInstalled {
                ["  It is installed. Every PC/SC program finds it."]
            } else {
                [
                    "  Once, for every PC/SC program:",
                    "    sudo nfc emulate install --for \(ReaderOwner.current?.name ?? "USER")",
                    "  Or, without root, give --start-pcscd.",
                ]
            }
        event(
            "ready",
            [
                "reader": reader, "reader_conf": configuration, "pcsclite_csock_name": daemon?.socketPath,
                "pcscd_log": daemon?.logPath, "pcscd_pid": (daemon?.processIdentifier).map { Int($0) },
                "product": product, "uid": tag.identifier.hexText(),
            ],
            ["Reader \(reader) is ready, with \(Self.name(product, tag)) on it."] + steps + ["Press Ctrl-C to stop."]
        )
    }

    private static func name(_ product: String, _ tag: any VirtualTag) -> String {
        "\(product), UID \(tag.identifier.hexText()),"
    }

    func note(_ note: EmulationNote) {
        event("note", ["name": note.name, "message": note.text], ["Note: " + note.text])
    }

    // MARK: Events

    func notice(_ notice: ReaderServer.Notice) {
        switch notice {
        case .connected: event("connected", [:], ["pcscd has opened the reader."])
        case .disconnected: event("disconnected", [:], ["pcscd has closed the reader."])
        }
    }

    func command(_ line: String, isKnown: Bool) {
        let problem = "Unknown command: \(line). For the commands: nfc emulate show --help"
        let error: JSONObject = isKnown ? [:] : ["error": "unknown-command", "message": problem]
        event("command", ["line": line, "ok": isKnown] + error, isKnown ? [] : [problem])
    }

    func saved(_ path: String) { event("saved", ["file": path], ["Saved \(path)."]) }

    func ended(_ end: EmulationSignals.End) { event("ended", ["reason": end.rawValue], []) }

    func exchange(_ exchange: Exchange) {
        let (exchange, meanings) = explainer.withLock { explainer in
            let meanings = explainer.meanings(of: exchange)
            return (explainer.concealing(exchange), meanings)
        }
        let request = exchange.request.isEmpty ? "" : " " + exchange.request.hexText()
        let answer = exchange.response.map { $0.isEmpty ? "done" : $0.hexText() } ?? exchange.failure ?? "no answer"
        let meaning = meanings.map { "  (\($0.request): \($0.answer))" } ?? ""
        event(
            "exchange",
            [
                "layer": exchange.layer.rawValue, "name": exchange.name, "request": exchange.request.hexText(),
                "response": exchange.response?.hexText(), "failure": exchange.failure, "meaning": meanings?.request,
                "answer_meaning": meanings?.answer,
            ],
            meanings?.rows?.map { "    " + $0 }
                ?? ["\(exchange.layer.rawValue) \(exchange.name)\(request) -> \(answer)\(meaning)"]
        )
    }

    private func event(_ name: String, _ members: JSONObject, _ lines: [String]) {
        var output = StandardOutput()
        if json {
            output.buffer = (["event": name] + members).line
        } else {
            for line in lines { output.appendLine(line) }
        }
        guard !output.buffer.isEmpty else { return }
        outputLock.withLock { _ in write(output.buffer) }
        if StandardOutput.isBroken { onBroken() }
    }
}

/// Explains the frames sent over the air, and the APDUs that programs send over PC/SC.
struct ExchangeExplainer {
    struct Meanings {
        var request: String
        var answer: String
        /// The frames on the air, as rows of a trace table.
        var rows: [String]?
    }

    private var air = TraceLineWriter()
    private var host = ExchangeInterpreter()
    /// Finds passwords and keys on each layer, so that they can be hidden.
    private var finders: [Exchange.Layer: SecretFinder] = [:]

    /// Returns an exchange with passwords, PINs and keys replaced by zeros. Call this for each exchange, in order.
    mutating func concealing(_ exchange: Exchange) -> Exchange {
        var finder = finders[exchange.layer] ?? SecretFinder()
        let secrets: [Range<Int>]
        switch exchange.layer {
        case .pcsc: secrets = finder.secrets(in: exchange.request, over: .commands)
        case .pn532: secrets = finder.secrets(inChipCommand: exchange.request)
        case .air:
            secrets = exchange.frames.map { finder.secrets(in: $0.request, over: $0.medium) } ?? []
        }
        var shown = exchange
        shown.request = exchange.request.concealing(secrets)
        // The data follows the chip's status byte.
        let start = exchange.layer == .pn532 ? 1 : 0
        if let response = exchange.response {
            let answer = finder.secrets(inAnswer: Array(response.dropFirst(start)))
            shown.response = response.concealing(answer.map { $0.lowerBound + start..<$0.upperBound + start })
        }
        finders[exchange.layer] = finder
        return shown
    }

    /// Returns the meaning of an exchange; nil for reader commands, whose names are self-explanatory.
    mutating func meanings(of exchange: Exchange) -> Meanings? {
        if let frames = exchange.frames {
            let lines = air.lines(of: Trace.Entry(.exchange(frames)))
            guard let request = lines.first, let answer = lines.last else { return nil }
            let rows = lines.flatMap { line in
                line.text(showsTime: false, widthOfBytes: 47).split(separator: "\n").map(String.init)
            }
            return Meanings(request: request.meaning, answer: answer.meaning, rows: rows)
        }
        guard exchange.layer == .pcsc, exchange.name == "transmit" else { return nil }
        let request = host.meaning(of: Frame(exchange.request), over: .commands)
        let answer = exchange.response.map { host.meaning(ofAnswer: Frame($0)) } ?? exchange.failure ?? "no answer"
        return Meanings(request: request, answer: answer)
    }
}
