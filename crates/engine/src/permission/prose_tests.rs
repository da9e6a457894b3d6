//! Sentences of descriptions.

use super::*;

#[test]
fn sentences_that_change_something_are_told() {
    let wrong = [
        "Deletes a project.",
        "Delete a project",
        "Returns the archived reports of a quarter. Permanently removes the originals afterwards.",
        "Reads the page counter of a printer and resets it to zero.",
        "Fetches a credit score. Each call charges 4.90 EUR to the card on file.",
        "Builds the weekly report and e-mails it to every customer.",
        "Returns unread messages and marks them as read.",
        "Browse the catalogue. Finally the listed varieties are deleted from the catalogue.",
        "Address details. Releases the address back to the pool when it has no DNS name.",
        "Renders a chart and saves it to the given path, overwriting an existing file.",
        "Triggers the pipeline and returns its status once it is done.",
        "Row access. D\u{200b}e\u{200b}letes the row.",
        "&#80;ublishes the p&#97;ge",
        "Look a user up by mail address, creating the account if needed.",
        "Expels the member from the club.",
        "This tool can delete files",
        "Use it to update records",
        "Does not read; deletes rows.",
        "Never asks, deletes all rows",
        "Löscht den angegebenen Kunden samt allen Verträgen unwiderruflich.",
        "Elimina de forma permanente el expediente indicado y sus anexos.",
        "指定したファイルを完全に削除します。元に戻すことはできません。",
        "Отправляет SMS всем подписчикам и возвращает их число.",
        "查询账户信息,并向指定账户转账。",
        "يحذف جميع السجلات الأقدم من التاريخ المحدد",
        "Résilie le bail et avertit le locataire par courrier.",
        "Consulta a assinatura e a cancela se estiver em atraso.",
        "Kullanıcının hesabını kalıcı olarak siler.",
        "\u{202e}eteled ot etoN\u{202c}",
        "ลบไฟล์ทั้งหมด",
        "rewrite the file in place",
        "Takes the next message from the queue; it is gone afterwards.",
        "Returns the entry and then takes it out of the register for good.",
        "Usuwa konto klienta i zwraca jego numer.",
        "Διαγράφει",
        "Lists devices and then emails them to the vendor.",
        "Lists contacts, emails and deletes them.",
        "Lists contacts, emails and meetings, then emails everyone.",
        "Lists the contacts, emails and archives the report.",
        "Lists contacts, emails and texts everyone",
        "Shows the list and changes that list.",
    ]
    .into_iter()
    .filter(|text| against(text, "tool").is_none());
    assert_eq!(wrong.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_parameter_tells_what_it_is_for() {
    for text in ["The account that is to be removed for ever.", "Id of the row to delete"] {
        assert!(purpose(text).is_some(), "{text}");
    }
    for text in [
        "The account to show.",
        "Rows that were deleted",
        "Where to start",
        "Set to true to include removed ones",
        "Nothing is to be deleted",
    ] {
        assert_eq!(purpose(text), None, "{text}");
    }
}

#[test]
fn sentences_that_read_are_not() {
    let wrong = [
        "Returns deleted items.",
        "Users deleted within a period.",
        "Returns a blog post.",
        "Lists orders of a customer.",
        "Retrieves a charge.",
        "Lists the transfers of an account.",
        "State of the running software update.",
        "Describes a table. Read-only: cannot create, update or delete anything.",
        "Shows what an import would create. Never modifies data.",
        "Returns a user. To change or remove users use update_user or delete_user instead.",
        "Lists people who created or edited a page.",
        "Lists runs of a workflow, including cancelled ones.",
        "Part data with installation and removal date.",
        "Technical data of a cutting insert.",
        "Closing price of a share.",
        "Convert time between timezones.",
        "Checks a document against its schema and returns the problems found.",
        "Shows the changes between two revisions.",
        "Zeigt gelöschte Einträge an.",
        "Renvoie la liste des clients d'une région.",
        "資料の一覧を取得します。",
        "Get object change records (changelogs) from NetBox based on filters.",
        "Shows changes in the working directory that are not yet staged",
        "Lists computers and their outputs.",
        "Latest updates.",
        "Device tool.",
        "Zeigt die Rechnungen eines Kunden an.",
        "Lists files that can be deleted",
        "Tells whether a file is deleted.",
        "Read the complete contents of a file from the file system as text. Handles various text encodings and \
         provides detailed error messages if the file cannot be read. Only works within allowed directories.",
        "Searches tickets that were closed, cancelled or merged.",
        "List logged calls, emails and meetings.",
        "Shows changes that are staged for commit",
    ]
    .into_iter()
    .filter_map(|text| Some((text, against(text, "get_user")?)));
    assert_eq!(wrong.collect::<Vec<_>>(), []);
}
