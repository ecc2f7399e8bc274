// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FleetMQTT
import FleetModel

/// `nfc fleet protect`.
struct ProtectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect",
        abstract: "Protect the next tag at a node from writing, with a password.",
        discussion: """
            For NTAG21x and MIFARE Ultralight EV1. With --secret, the password is in a
            file on the node and is never sent. With --password-file, it is in a file
            here: 8 hexadecimal digits, a space, and 4 digits for the acknowledgement.

            Example:
              nfc fleet protect kiosk-7 --secret posters

            Exit status: as for nfc fleet write.
            """
    )

    @OptionGroup var options: JobOptions

    @Option(help: "The name of a secret on the node.", transform: NameArgument.parse)
    var secret: NameArgument?

    @Option(help: ArgumentHelp("A file with the password; only its owner may have access.", valueName: "file"))
    var passwordFile: String?

    func validate() throws {
        guard (secret == nil) != (passwordFile == nil) else {
            throw ValidationError("Use either --secret or --password-file.")
        }
    }

    func run() async throws { try await options.send(.protect(try tagSecret())) }

    private func tagSecret() throws(FleetFailure) -> TagSecret {
        if let secret { return .named(secret.name) }
        do throws(ConfigurationError) {
            let bytes = try SecretFile.readLine(passwordFile ?? "")
            guard let secret = TagSecret(file: String(decoding: bytes, as: UTF8.self)) else {
                throw ConfigurationError("The file must have 8 hexadecimal digits, a space and 4 more digits.")
            }
            return secret
        } catch {
            throw FleetFailure(error)
        }
    }
}

/// `nfc fleet lock`.
struct LockCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock",
        abstract: "Make the next tag at a node read-only. This can't be undone.",
        discussion: """
            Example:
              nfc fleet lock kiosk-7 --uid 04689571fa5c64

            Exit status: as for nfc fleet write.
            """
    )

    @OptionGroup var options: JobOptions

    func run() async throws { try await options.send(.lock) }
}

/// `nfc fleet indicate`.
struct IndicateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "indicate",
        abstract: "Show a signal at a reader that has lights.",
        discussion: """
            Example:
              nfc fleet indicate kiosk-7 attention

            Exit status: as for nfc fleet write.
            """
    )

    @OptionGroup var options: JobOptions

    @Argument(help: "allowed, refused or attention.")
    var signal: Job.Signal

    func run() async throws { try await options.send(.indicate(signal)) }
}

/// `nfc fleet cancel`.
struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel a job that is waiting for its tag.",
        discussion: """
            Example:
              nfc fleet cancel kiosk-7 9d0c3f6e-2b1d-4c59-8a40-0c8b5f6a7e11

            Exit status: as for nfc fleet write.
            """
    )

    @OptionGroup var options: JobOptions

    @Argument(help: "The job's id.", transform: NameArgument.parse)
    var job: NameArgument

    func run() async throws { try await options.send(.cancel(job: job.name.text)) }
}

extension Job.Signal: ExpressibleByArgument {}
