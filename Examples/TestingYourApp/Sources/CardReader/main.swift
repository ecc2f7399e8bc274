// SPDX-License-Identifier: Apache-2.0
#if canImport(PhoneScreens)
    import Foundation
    import PhoneScreens

    if let phone = SimulatedPhone.ofProcess {
        await Screens().run(on: phone)
        exit(0)
    }

    let reader = MessageReader()
    do {
        for line in try await reader.scan() { print(line) }
    } catch {
        print("Scanning ended: \(error.localizedDescription)")
        exit(1)
    }

    if CommandLine.arguments.contains("--copy"), let message = reader.message {
        do {
            try await MessageWriter(message).write()
            print("The message is saved on the card.")
        } catch {
            print("Nothing was saved: \(error.localizedDescription)")
            exit(1)
        }
    }
#endif
