-- Row security for roles that each work for some apps only. Run it once, as the owner of the store:
--     psql -1 -v ON_ERROR_STOP=1 -f tenants.sql postgresql://...
-- and then for each such ROLE, after the grants that README.md lists:
--     CREATE POLICY tenant_ROLE ON seslite.apps TO ROLE USING (name IN ('an app', 'another'));
--
-- Only names of apps are compared with a role. A user or a session belongs to an app that the role sees,
-- everything else to a session, a user or an app. A role may write the rows that it may see. Without a policy
-- for apps it sees nothing; the owner of the store sees everything.

SET LOCAL search_path = pg_catalog, pg_temp;

ALTER TABLE seslite.apps ENABLE ROW LEVEL SECURITY;

-- Tables with the number of the app. The condition is about the whole statement, and not looked up for each
-- row.
SELECT format('ALTER TABLE seslite.%I ENABLE ROW LEVEL SECURITY', r.name),
       format('CREATE POLICY tenant ON seslite.%1$I USING (app_id IN (SELECT id FROM seslite.apps))', r.name)
FROM (VALUES ('users'), ('app_state'), ('sessions'), ('session_labels')) AS r (name) \gexec

-- Rows of these name a user or a session, too, which must be of the same app.
CREATE POLICY same_app ON seslite.sessions AS RESTRICTIVE USING (true) WITH CHECK (EXISTS (
    SELECT FROM seslite.users AS o
    WHERE o.shard = sessions.shard AND o.id = sessions.user_id AND o.app_id = sessions.app_id OFFSET 0));
CREATE POLICY same_app ON seslite.session_labels AS RESTRICTIVE USING (true) WITH CHECK (EXISTS (
    SELECT FROM seslite.sessions AS o
    WHERE o.shard = session_labels.shard AND o.id = session_labels.session_id
      AND o.app_id = session_labels.app_id OFFSET 0));

-- All others. (OFFSET 0 makes the server look owners up one by one, where it might read all of them.)
SELECT format('ALTER TABLE seslite.%I ENABLE ROW LEVEL SECURITY', r.name),
       format('CREATE POLICY tenant ON seslite.%1$I USING (EXISTS (SELECT FROM seslite.%2$I AS o '
              'WHERE o.shard = %1$I.shard AND o.id = %1$I.%3$I OFFSET 0))', r.name, r.owners, r.owner)
FROM (VALUES
    ('user_state', 'users', 'user_id'),
    ('artifacts', 'users', 'user_id'),
    ('artifact_contents', 'users', 'user_id'),
    ('session_details', 'sessions', 'session_id'),
    ('session_leases', 'sessions', 'session_id'),
    ('session_drafts', 'sessions', 'session_id'),
    ('session_inbox', 'sessions', 'session_id'),
    ('derived', 'sessions', 'session_id'),
    ('session_state', 'sessions', 'session_id'),
    ('base_state', 'sessions', 'session_id'),
    ('events', 'sessions', 'session_id'),
    ('event_marks', 'sessions', 'session_id'),
    ('artifact_chunks', 'artifact_contents', 'content_id')
) AS r (name, owners, owner) \gexec
