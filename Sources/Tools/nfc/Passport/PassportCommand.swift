// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import LinuxSupport
import NFCSessions
import TagLink
import TagProtocols
import VirtualTags

/// `nfc passport`: electronic travel documents.
struct PassportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passport",
        abstract: "Read passports and identity cards, and check who signed them.",
        subcommands: [PassportReadCommand.self]
    )
}

struct PassportReadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read a passport or an identity card.",
        discussion: """
            The document opens to what is printed in it: its machine readable zone, its
            number and its dates of birth and expiry, or its card access number (CAN).
            PACE is used if the document has a kind that is known (generic mapping over
            an elliptic curve), otherwise basic access control. The document is never
            changed. Fingerprints can't be read.

            The signed hashes show that the data are as they were signed, and --csca
            that the signer belongs to a country: a file with certificates in PEM, such
            as the master list of a country's authority. A copied chip passes too,
            unless the document has a key to prove that it is none: by active
            authentication, or by chip authentication over an elliptic curve.

            Other users can see the words of a command, so better use file:PATH or
            env:NAME for the zone.

            Examples:
              nfc passport read --mrz file:zone.txt --out passport
              nfc passport read --number L898902C3 --birth 740812 --expiry 120415
              nfc passport read --can env:CAN --out card
              nfc passport read document.json --mrz file:zone.txt --json

            Exit status: 0 when it was read and nothing is wrong, 1 when the zone, the
            number, a signature or a hash is wrong, it left, or no document was found, 2
            for wrong usage, 3 without a reader, 130 when cancelled.
            """
    )

    @OptionGroup var source: TagSourceOptions

    @Option(help: ArgumentHelp("The machine readable zone, with or without line breaks.", valueName: "zone"))
    var mrz: String?

    @Option(
        help: ArgumentHelp(
            "The card access number: the six digits on the front, or file:PATH or env:NAME with them.",
            valueName: "digits"
        )
    )
    var can: String?

    @Option(help: ArgumentHelp("The number of the document.", valueName: "number"))
    var number: String?

    @Option(help: ArgumentHelp("The date of birth.", valueName: "yymmdd"))
    var birth: String?

    @Option(help: ArgumentHelp("The date of expiry.", valueName: "yymmdd"))
    var expiry: String?

    @Option(help: ArgumentHelp("A file with the certificates of countries, in PEM.", valueName: "file"))
    var csca: String?

    @Option(help: ArgumentHelp("Save the data groups and the face in this folder.", valueName: "folder"))
    var out: String?

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        let printed = [number, birth, expiry].count { $0 != nil }
        let ways = [mrz != nil, can != nil, printed > 0]
        guard ways.count(where: { $0 }) == 1, printed == 0 || printed == 3 else {
            let reason = "Give what is printed in the document: --mrz, or --can, or --number, --birth and --expiry."
            throw ValidationError(reason)
        }
        // The files of another document would look like this one's.
        if let out, FileManager.default.fileExists(atPath: out + "/COM.bin") {
            throw ValidationError("\(out) already has a document. Name another folder.")
        }
    }

    private func password() throws -> EMRTDSession.Password {
        guard let can else { return .accessInformation(try accessInformation()) }
        return .accessNumber(Array(try Self.accessNumber(can).utf8))
    }

    static func accessNumber(_ text: String) throws -> String {
        let digits = try Secret.text(text).trimmingCharacters(in: .whitespacesAndNewlines)
        guard EMRTDContents.isAccessNumber(digits) else {
            throw CommandFailure(.usage, "bad-access-number", "The card access number has digits alone, mostly six.")
        }
        return digits
    }

    private func accessInformation() throws -> [UInt8] {
        if let mrz {
            let text = try Secret.text(mrz)
            do throws(EMRTDError) {
                return try MachineReadableZone(text).accessInformation
            } catch {
                throw CommandFailure(.usage, "bad-zone", error.reason)
            }
        }
        let parts = (number?.uppercased() ?? "", birth ?? "", expiry ?? "")
        guard let information = MachineReadableZone.accessInformation(number: parts.0, birth: parts.1, expiry: parts.2)
        else { throw CommandFailure(.usage, "bad-zone", "Write the number in A to Z and 0 to 9, and dates as YYMMDD.") }
        return information
    }

    func run() async throws {
        let password = try password()
        let issuers = try csca.map { path in
            let bytes = try InputFile.named(path, limit: 1 << 24).readToEnd()
            guard bytes.firstRange(of: Array("-----BEGIN CERTIFICATE-----".utf8)) != nil else {
                throw CommandFailure(.usage, "bad-certificate", "\(path) has no certificate in PEM.")
            }
            return bytes
        }
        let prompt = "Hold the document near the reader, and don't move it."
        let done = "The document was read."
        let ((files, proof), _) = try await source.read(prompt, done: done) { tag throws(TagError) in
            guard let card = tag.card else {
                throw TagError(.unsupported, "This tag is not an electronic travel document.")
            }
            defer { tag.forumTag?.forgetMemory() }
            var session = try await EMRTDSession.begin(with: card, password: password)
            var files: [UInt16: [UInt8]] = [:]
            // Groups 3 and 4, fingers and eyes, need the authority's certificates.
            for file in [EMRTDContents.comIdentifier, EMRTDContents.sodIdentifier]
                + (UInt16(0x0101)...0x0110).filter({ $0 != 0x0103 && $0 != 0x0104 })
            {
                files[file] = try await session.read(file)
            }
            return (files, try await PassportReport.ChipProof(asking: &session, files))
        }
        let report = try PassportReport(files, proof, issuers: issuers)
        if let out { try report.save(to: out) }
        printResult(json: json, report.object, report.lines)
        if report.isWrong { throw ExitCode(CommandFailure.Status.refused.rawValue) }
    }
}

/// What a travel document says, and whether it was changed.
struct PassportReport {
    private let files: [UInt16: [UInt8]]
    private let zone: MachineReadableZone
    /// Whether each data group is as it was signed; nil when its hash is not signed.
    private var isUnchanged: [Int: Bool?] = [:]
    /// The data groups that were signed, but that the document lacks.
    private var missing: [Int] = []
    /// What is wrong with the signature; nil when it is right.
    private var problem: String?
    private let checksIssuer: Bool
    private let proof: ChipProof

    /// What the chip proves about itself.
    enum ChipProof: Sendable {
        /// It has the private keys that belong to these data groups.
        case given([Int])
        /// A sentence about what is wrong.
        case failed(String)

        /// Asks for all proofs that the data groups announce. Chip authentication comes last, because it changes the
        /// session's keys.
        init(asking session: inout EMRTDSession, _ files: [UInt16: [UInt8]]) async throws(TagError) {
            var groups: [Int] = []
            do throws(TagError) {
                if let group = files[0x010F],
                    try await session.authenticateActively(group, information: files[0x010E])
                {
                    groups.append(15)
                }
                if let group = files[0x010E], try await session.authenticateChip(group) { groups.append(14) }
                self = .given(groups)
            } catch {
                guard [.authenticationFailed, .refused, .badAnswer].contains(error.code) else { throw error }
                self = .failed(error.reason)
            }
        }
    }

    init(_ files: [UInt16: [UInt8]], _ proof: ChipProof, issuers: [UInt8]?) throws {
        self.files = files
        self.proof = proof
        checksIssuer = issuers != nil
        // Data group 1 is 61 with the zone in 5F1F.
        var rest = (files[0x0101] ?? [])[...]
        guard let group = DataObject(takingFrom: &rest), group.tag == 0x61,
            let text = DataObject.sequence(group.value)?.first(where: { $0.tag == 0x5F1F })?.value,
            let zone = try? MachineReadableZone(String(decoding: text, as: UTF8.self))
        else { throw CommandFailure("bad-document", "Data group 1 of the document has no machine readable zone.") }
        self.zone = zone
        do throws(TagError) {
            let signed = try EMRTDSecurityObject(checking: files[EMRTDContents.sodIdentifier] ?? [])
            for (number, file) in groups { isUnchanged[number] = .some(signed.isUnchanged(number, file)) }
            // Groups 3 and 4 can't be read.
            missing = signed.groups.subtracting([3, 4]).filter { files[0x0100 | UInt16($0)] == nil }.sorted()
            if issuers != nil {
                _ = try EMRTDSecurityObject(checking: files[EMRTDContents.sodIdentifier] ?? [], issuers: issuers)
            }
        } catch {
            problem = error.reason
        }
    }

    private var groups: [(Int, [UInt8])] {
        (1...16).compactMap { number in files[0x0100 | UInt16(number)].map { (number, $0) } }
    }

    /// The face in data group 2: a JPEG or JPEG 2000 picture, to the end of the group.
    private var face: (bytes: [UInt8], name: String)? {
        guard let group = files[0x0102] else { return nil }
        let kinds: [([UInt8], String)] = [
            ([0xFF, 0xD8, 0xFF], "face.jpg"), ([0x00, 0x00, 0x00, 0x0C, 0x6A, 0x50], "face.jp2"),
            ([0xFF, 0x4F, 0xFF, 0x51], "face.j2k"),
        ]
        for (start, name) in kinds {
            if let place = group.firstRange(of: start) { return (Array(group[place.lowerBound...]), name) }
        }
        return nil
    }

    var isWrong: Bool {
        problem != nil || isUnchanged.values.contains(false) || chip.problem != nil || !missing.isEmpty
    }

    /// Whether the chip proved that it is no copy, as far as the signature is right: a key that was not signed proves
    /// nothing.
    private var chip: (proofs: [String], problem: String?) {
        switch proof {
        case .failed(let reason): return ([], reason)
        case .given(let groups):
            guard problem == nil else { return ([], nil) }
            let signed = groups.filter { isUnchanged[$0] == true }
            return (signed.map { $0 == 14 ? "chip authentication" : "active authentication" }, nil)
        }
    }

    func save(to folder: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw CommandFailure("unwritable-file", "The folder \(folder) can't be made. Check the path and its owner.")
        }
        var contents = groups.map { ("DG\($0.0).bin", $0.1) }
        if let data = files[EMRTDContents.comIdentifier] { contents.append(("COM.bin", data)) }
        if let data = files[EMRTDContents.sodIdentifier] { contents.append(("SOD.bin", data)) }
        if let face { contents.append((face.name, face.bytes)) }
        for (name, bytes) in contents { try OutputTarget.file("\(folder)/\(name)").write(bytes, readers: .ownerAlone) }
    }

    var object: JSONObject {
        let (names, number) = (zone.names, zone.documentNumber)
        return [
            "ok": !isWrong, "kind": zone.kind, "issuer": zone.issuer, "number": number, "surname": names.surname,
            "given_names": names.given, "nationality": zone.nationality, "sex": zone.sex,
            "birth": zone.dateOfBirth, "expiry": zone.dateOfExpiry, "mrz": zone.lines,
            "missing_groups": missing, "chip_proofs": chip.proofs, "chip_problem": chip.problem,
            "signature": problem == nil ? (checksIssuer ? "trusted" : "valid") : "wrong", "problem": problem,
            "groups": groups.map { number, bytes -> JSONObject in
                ["number": number, "bytes": bytes.count, "unchanged": isUnchanged[number] ?? nil]
            },
        ]
    }

    var lines: [String] {
        let names = zone.names
        var lines = [
            "\(zone.kind) \(zone.issuer) \(zone.documentNumber): \(names.surname), \(names.given)",
            "Born \(zone.dateOfBirth), \(zone.sex), nationality \(zone.nationality), expires \(zone.dateOfExpiry)",
        ]
        for (number, bytes) in groups {
            let state =
                switch isUnchanged[number] ?? nil {
                case true?: "as it was signed"
                case false?: "CHANGED since it was signed"
                case nil: "not checked"
                }
            lines.append("Data group \(number): \(bytes.count) bytes, \(state)")
        }
        for number in missing { lines.append("Data group \(number): MISSING, though it was signed") }
        if let problem = chip.problem {
            lines.append("Chip: NOT TRUSTED. \(problem)")
        } else if chip.proofs.isEmpty, files[0x010E] ?? files[0x010F] != nil || !missing.isEmpty {
            lines.append("Chip: it may be a copy, because no key of a known kind is as a trusted signer signed it")
        } else if chip.proofs.isEmpty {
            lines.append("Chip: it may be a copy, because it has no key to prove otherwise")
        } else {
            let condition = checksIssuer ? "" : " if the signer is"
            lines.append("Chip: genuine\(condition), as it proved by \(chip.proofs.joined(separator: " and "))")
        }
        if let problem {
            lines.append("Signature: not trusted. \(problem)")
        } else if checksIssuer {
            lines.append("Signature: right, by a signer of the given authorities")
        } else {
            lines.append("Signature: right, but anybody may have signed it; to check the country: --csca FILE")
        }
        return lines
    }
}
